"""The tables of slack_sdk's own stores, so that migrations make them and nothing else does."""

from slack_sdk.oauth.installation_store.sqlalchemy import AsyncSQLAlchemyInstallationStore as Installations
from slack_sdk.oauth.state_store.sqlalchemy import AsyncSQLAlchemyOAuthStateStore as States
from sqlalchemy import MetaData

metadata = MetaData()

installations = Installations.build_installations_table(metadata, Installations.default_installations_table_name)
bots = Installations.build_bots_table(metadata, Installations.default_bots_table_name)
states = States.build_oauth_states_table(metadata, States.default_table_name)
