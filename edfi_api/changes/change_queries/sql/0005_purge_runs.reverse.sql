DROP TABLE purge_run;
