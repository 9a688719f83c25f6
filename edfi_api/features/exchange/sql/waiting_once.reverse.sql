DELETE FROM exchange_waiting w
 USING exchange_waiting other
 WHERE (other.connection, other.resource, other.remote_id) = (w.connection, w.resource, w.remote_id) AND other.id < w.id;
ALTER TABLE exchange_waiting DROP CONSTRAINT exchange_waiting_once;
ALTER TABLE exchange_waiting DROP COLUMN id;
ALTER TABLE exchange_waiting ADD PRIMARY KEY (connection, resource, remote_id);
