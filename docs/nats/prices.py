# Every price at once, and then each as it changes. Needs: pip install nats-py
import asyncio
import json
import sys

import nats


async def main(server="nats://127.0.0.1:4222", subject="wellhead.prices.>"):
    connection = await nats.connect(server)
    jetstream = connection.jetstream()
    prices = await jetstream.subscribe(subject, ordered_consumer=True)
    async for message in prices.messages:
        price = json.loads(message.data)
        print(message.subject, price["price"], price["currency"], price["created_at"], flush=True)


asyncio.run(main(*sys.argv[1:]))
