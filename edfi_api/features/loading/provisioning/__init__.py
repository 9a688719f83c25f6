"""The databases of data stores: created, provisioned, cloned, filled."""
