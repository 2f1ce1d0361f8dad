// Every price at once, and then each as it changes.
// Needs: bun add @nats-io/transport-node @nats-io/jetstream
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

interface Price {
  price: number
  currency: string | null
  created_at: string
}

const [server = 'nats://127.0.0.1:4222', subject = 'wellhead.prices.>'] = process.argv.slice(2)
const connection = await connect({ servers: server })
const consumer = await jetstream(connection).consumers.get('wellhead-prices', { filter_subjects: subject })
for await (const message of await consumer.consume()) {
  const { price, currency, created_at } = message.json<Price>()
  console.log(message.subject, price, currency, created_at)
}
