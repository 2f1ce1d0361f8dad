from __future__ import annotations

from datetime import datetime, timezone

import pytest

from wellhead import Client, QuotaExceeded, Unavailable, WellheadError, verify_webhook
from wellhead.testkit import Copy, NotCaptured, start_wellhead

START = datetime(2026, 11, 20, 15, tzinfo=timezone.utc)


def test_what_one_test_does(wellhead: Copy) -> None:
    wellhead.record({"WTI_USD": 71.5})
    wellhead.client.mail_sign_in_link({"email": "eval@example.com"})
    wellhead.fault("/v1/prices/latest", "INTERNAL_ERROR", count=1)
    with pytest.raises(Unavailable):
        Client(wellhead.url, wellhead.api_key, retries=0).latest("WTI_USD")
    assert wellhead.client.latest("WTI_USD")[0]["price"] == 71.5
    assert any("sign-in" in letter["text"] for letter in wellhead.mail.all())
    wellhead.advance("PT1H")


def test_the_next_one_does_not_see(wellhead: Copy) -> None:
    assert wellhead.now() == START
    assert wellhead.client.latest("WTI_USD")[0]["price"] != 71.5
    assert not any("sign-in" in letter["text"] for letter in wellhead.mail.all())


def test_an_account_of_a_plan_runs_out_of_its_quota_and_has_it_again_the_next_day(wellhead: Copy) -> None:
    client = Client(wellhead.url, wellhead.account("free").api_key)
    for _ in range(50):
        client.latest("WTI_USD")
    with pytest.raises(QuotaExceeded):
        client.latest("WTI_USD")
    wellhead.move_to("2026-11-21T00:00:01Z")
    assert client.latest("WTI_USD")


def test_scenarios_are_brought_about_by_name(wellhead: Copy) -> None:
    edge = wellhead.scenario("quota-edge", remaining=0)["details"]
    with pytest.raises(QuotaExceeded):
        Client(wellhead.url, edge["api_key"]).latest("WTI_USD")
    wellhead.scenario("negative-wti")
    assert wellhead.client.latest("WTI_USD")[0]["price"] == -37.63
    with pytest.raises(WellheadError, match="must be negative-wti, crash"):
        wellhead.scenario("boom")  # type: ignore[arg-type]


def test_webhooks_and_mail_can_be_waited_for(wellhead: Copy) -> None:
    webhook = wellhead.client.create_webhook(
        {
            "url": wellhead.webhooks.url,
            "events": ["price.updated"],
            "commodity_filters": ["WTI_USD", "BRENT_CRUDE_USD"],
        }
    )["data"]
    wellhead.record({"WTI_USD": 71.5, "BRENT_CRUDE_USD": 75.25})
    brent = wellhead.webhooks.next(lambda delivery: delivery.data["commodity_code"] == "BRENT_CRUDE_USD")
    assert brent.data["price"] == 75.25
    now = float(brent.headers["webhook-timestamp"])
    assert verify_webhook(webhook["secret"], brent.body, brent.headers, now=now)["id"] == brent.id
    assert len(wellhead.webhooks.count(2)) == 2
    wellhead.client.mail_sign_in_link({"email": "eval@example.com"})
    assert wellhead.mail.next(lambda letter: "sign-in" in letter["text"])["to"] == "eval@example.com"
    with pytest.raises(NotCaptured):
        wellhead.mail.next(lambda letter: "sign-in" in letter["text"], timeout_s=0.1)


def test_a_program_that_can_not_be_started_says_so() -> None:
    with pytest.raises(WellheadError, match="could not be started"):
        start_wellhead(binary="/nonexistent/wellhead")
    with pytest.raises(WellheadError, match="(?s)the copy ended with 1: .*clock"):
        start_wellhead(clock="noon")
