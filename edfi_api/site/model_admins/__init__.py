"""Admin pages of the models of the core: documents, data stores, profiles, and (`security`) clients and claim sets."""
