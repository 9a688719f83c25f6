DROP INDEX refusal_open_page;
