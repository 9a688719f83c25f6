-- Tables of the database edfi_admin of an Ed-Fi ODS/API 7.3. Definitions of profiles are xml there; the embedded
-- PostgreSQL has no XML.
CREATE SCHEMA dbo;
CREATE TABLE dbo.apiclientapplicationeducationorganizations (apiclient_apiclientid integer NOT NULL, applicationedorg_applicationedorgid integer NOT NULL, PRIMARY KEY (apiclient_apiclientid, applicationedorg_applicationedorgid));
CREATE TABLE dbo.apiclientodsinstances (apiclientodsinstanceid integer NOT NULL, apiclient_apiclientid integer NOT NULL, odsinstance_odsinstanceid integer NOT NULL, PRIMARY KEY (apiclientodsinstanceid));
CREATE TABLE dbo.apiclientownershiptokens (apiclientownershiptokenid integer NOT NULL, apiclient_apiclientid integer NOT NULL, ownershiptoken_ownershiptokenid smallint NOT NULL, PRIMARY KEY (apiclientownershiptokenid));
CREATE TABLE dbo.apiclients (apiclientid integer NOT NULL, key varchar(50) NOT NULL, secret varchar(100) NOT NULL, name varchar(50) NOT NULL, isapproved boolean NOT NULL, usesandbox boolean NOT NULL, sandboxtype integer NOT NULL, application_applicationid integer, user_userid integer, keystatus varchar, challengeid varchar, challengeexpiry timestamp, activationcode varchar, activationretried integer, secretishashed boolean NOT NULL, studentidentificationsystemdescriptor varchar(306), creatorownershiptokenid_ownershiptokenid smallint, PRIMARY KEY (apiclientid));
CREATE TABLE dbo.applicationeducationorganizations (applicationeducationorganizationid integer NOT NULL, educationorganizationid bigint NOT NULL, application_applicationid integer NOT NULL, PRIMARY KEY (applicationeducationorganizationid));
CREATE TABLE dbo.applications (applicationid integer NOT NULL, applicationname varchar, vendor_vendorid integer, claimsetname varchar(255), operationalcontexturi varchar(255) NOT NULL, PRIMARY KEY (applicationid));
CREATE TABLE dbo.clientaccesstokens (id uuid NOT NULL, expiration timestamp NOT NULL, scope varchar, apiclient_apiclientid integer, PRIMARY KEY (id));
CREATE TABLE dbo.odsinstancecontexts (odsinstancecontextid integer NOT NULL, odsinstance_odsinstanceid integer NOT NULL, contextkey varchar(50) NOT NULL, contextvalue varchar(50) NOT NULL, PRIMARY KEY (odsinstancecontextid), UNIQUE (odsinstance_odsinstanceid, contextkey));
CREATE TABLE dbo.odsinstancederivatives (odsinstancederivativeid integer NOT NULL, odsinstance_odsinstanceid integer NOT NULL, derivativetype varchar(50) NOT NULL, connectionstring varchar(1500), PRIMARY KEY (odsinstancederivativeid), UNIQUE (odsinstance_odsinstanceid, derivativetype));
CREATE TABLE dbo.odsinstances (odsinstanceid integer NOT NULL, name varchar(100) NOT NULL, instancetype varchar(100), connectionstring varchar(1500), PRIMARY KEY (odsinstanceid));
CREATE TABLE dbo.ownershiptokens (ownershiptokenid smallint NOT NULL, description varchar(50), PRIMARY KEY (ownershiptokenid));
CREATE TABLE dbo.profileapplications (profile_profileid integer NOT NULL, application_applicationid integer NOT NULL, PRIMARY KEY (profile_profileid, application_applicationid));
CREATE TABLE dbo.profiles (profileid integer NOT NULL, profilename varchar(500) NOT NULL, profiledefinition text, PRIMARY KEY (profileid), UNIQUE (profilename));
CREATE TABLE dbo.users (userid integer NOT NULL, email varchar, fullname varchar, vendor_vendorid integer, PRIMARY KEY (userid));
CREATE TABLE dbo.vendornamespaceprefixes (vendornamespaceprefixid integer NOT NULL, namespaceprefix varchar(255) NOT NULL, vendor_vendorid integer NOT NULL, PRIMARY KEY (vendornamespaceprefixid));
CREATE TABLE dbo.vendors (vendorid integer NOT NULL, vendorname varchar, PRIMARY KEY (vendorid));
