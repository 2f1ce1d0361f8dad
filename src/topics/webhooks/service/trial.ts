import type { Ids } from '../../../lib/ids.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Outcome } from '../../../send/attempt.ts'
import type { WebhookSender } from '../../../send/webhooks/webhook.ts'

/** Posts one signed test event to an address, past the outbox, as an endpoint of an account gets it. */
export type WebhookTrial = (url: string) => Promise<{ outcome: Outcome; secret: string }>

const timeoutMs = 15_000

export const createWebhookTrial =
  ({
    sender,
    clock,
    ids,
  }: {
    sender: WebhookSender
    clock: Pick<Clock, 'now'>
    ids: Pick<Ids, 'event' | 'token'>
  }): WebhookTrial =>
  async url => {
    const at = clock.now()
    const eventId = ids.event(at)
    const secret = `whsec_${ids.token()}`
    const eventType = 'webhook.test'
    const body = JSON.stringify({
      id: eventId,
      type: eventType,
      created_at: isoInstant(at),
      data: { message: 'A test sent by the operator.' },
    })
    const outcome = await sender.send(
      { eventId, eventType, body },
      { target: { url, secrets: [secret], scheme: 'timestamped' } },
      AbortSignal.timeout(timeoutMs),
    )
    return { outcome, secret }
  }
