"""Users of the admin, logged in."""

from django.contrib.auth.models import Group, User
from django.test import Client


def client_of(user: User) -> Client:
    """Logged in without a password, since hashing one is slow."""
    client = Client()
    client.force_login(user)
    return client


def member(group: str) -> Client:
    """A user in one of the groups that `migrate` makes, named after it."""
    user = User.objects.create(username=group, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    return client_of(user)
