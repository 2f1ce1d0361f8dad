import { createHash } from 'node:crypto'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Sender } from '../../../outbox/outbox.ts'
import type { InboxStore } from '../../../outbox/store/inbox.ts'
import { accepted, givenUp, outcomeOf } from '../../../send/handover.ts'
import type { FrozenMailMessage, Mailer } from '../../../send/messages/mailer.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { SuppressionStore } from '../store/suppressions.ts'
import { type PostedMailMessage, sealContext } from './mail.ts'

/**
 * Hands e-mails from the outbox to the provider, and keeps the addresses that a server has refused
 * permanently.
 */
export const createMailSender = ({
  mailer,
  vault,
  suppressions,
  clock,
}: {
  mailer: Mailer
  vault: Vault
  suppressions: SuppressionStore
  clock: Clock
}): Sender => ({
  async send({ body, eventId, attempt }, _lane, signal) {
    const mailBody = JSON.parse(body) as PostedMailMessage
    const opened =
      'sealed' in mailBody
        ? vault.open(sealContext(eventId), Buffer.from(mailBody.sealed, 'base64'))
        : undefined
    const mailMessage =
      opened === undefined
        ? (mailBody as FrozenMailMessage)
        : (JSON.parse(opened) as FrozenMailMessage)
    const began = clock.monotonic()
    const handed = await mailer.send(mailMessage, {
      key: keyOf(eventId),
      repeated: attempt > 1,
      signal,
    })
    if (!handed.accepted && handed.fault === 'address') {
      suppressions.add({
        address: mailMessage.to.toLowerCase(),
        reason: handed.reason,
        createdAt: clock.now(),
      })
    }
    return outcomeOf(handed, Math.round(clock.monotonic() - began))
  },
})

/** The idempotency key for a header: the event's id where it fits, else its hash. */
const keyOf = (eventId: string): string =>
  /^[!-~]{1,256}$/.test(eventId) ? eventId : createHash('sha256').update(eventId).digest('hex')

/** Takes e-mails instead of a provider. */
export const createCapturingMailer = (
  inbox: Pick<InboxStore, 'add'>,
  now: () => number,
): Mailer => ({
  async send({ to, subject, text, html, attachments }, { key }) {
    inbox.add({
      channel: 'email',
      eventId: key,
      to,
      subject,
      text,
      html: html ?? null,
      attachments: attachments ?? [],
      at: now(),
    })
    return accepted(null)
  },
})

/** Without a provider every e-mail fails; `tell` is called for the first one. */
export function createDisabledMailer(notify: () => void): Mailer {
  let hasNotified = false
  return {
    async send() {
      if (!hasNotified) notify()
      hasNotified = true
      return givenUp('No mail provider is configured.', null, 'setting')
    },
  }
}
