import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Sender } from '../../../outbox/outbox.ts'
import type { InboxStore } from '../../../outbox/store/inbox.ts'
import { accepted, givenUp, outcomeOf } from '../../../send/handover.ts'
import type { SmsProvider } from '../../../send/messages/sms.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { PhoneStore } from '../store/phones.ts'
import { type PostedText, sealContext } from './sms.ts'

export interface TextSenderDeps {
  texter: SmsProvider
  phones: PhoneStore
  vault: Vault
  clock: Clock
  /** Whether messages go anywhere but the log. */
  reaches: boolean
}

/**
 * Passes text messages from the outbox to the provider. A number that opted out at the provider is
 * opted out here too.
 */
export const createSmsSender = ({
  texter,
  phones,
  vault,
  clock,
  reaches,
}: TextSenderDeps): Sender => ({
  async send({ body, eventId }) {
    const smsBody = JSON.parse(body) as PostedText
    // It was created while there was a provider. The log would reveal it to all its readers.
    if ('sealed' in smsBody && !reaches)
      return outcomeOf(givenUp('No SMS provider is configured.', null, 'setting'), 0)
    const text =
      'sealed' in smsBody
        ? vault.open(sealContext(eventId), Buffer.from(smsBody.sealed, 'base64'))
        : smsBody.text
    const began = clock.monotonic()
    const handover = await texter.send({ to: smsBody.to, text }, eventId)
    if (!handover.accepted && handover.fault === 'refused') phones.optOut(smsBody.to)
    return outcomeOf(handover, Math.round(clock.monotonic() - began))
  },
})

/** Takes messages instead of a provider. */
export const createCapturingSmsProvider = (
  inbox: Pick<InboxStore, 'add'>,
  now: () => number,
): SmsProvider => ({
  async send({ to, text }, key) {
    inbox.add({
      channel: 'sms',
      eventId: key,
      to,
      subject: null,
      text,
      html: null,
      attachments: [],
      at: now(),
    })
    return accepted(null)
  },
})

/** Writes messages to the log, with no more of the number than its end. */
export const createLoggingSmsProvider = (log: Log): SmsProvider => ({
  async send({ to, text }) {
    log.info('text_message', { to: `…${to.slice(-4)}`, text })
    return accepted(null)
  },
})
