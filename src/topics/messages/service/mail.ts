import type { Runtime } from '../../../config/runtime.ts'
import type { Message, Outbox } from '../../../outbox/outbox.ts'
import {
  type Attachment,
  type FrozenMailMessage,
  headerLine,
  plainAddress,
  plainFilename,
} from '../../../send/messages/mailer.ts'
import type { Vault } from '../../keys/service/vault.ts'
import type { SuppressionStore } from '../store/suppressions.ts'
import { linkedHtml, paragraphsHtml } from './mail-html.ts'
import type { RecipientState, Recipients } from './recipients.ts'

export type { Attachment } from '../../../send/messages/mailer.ts'
export type { RecipientState } from './recipients.ts'

export interface MailMessage {
  to: string
  subject: string
  text: string
  /** Without it a notice is sent as its text in HTML, the addresses to press. */
  html?: string
  attachments?: readonly Attachment[]
  accountId: string | null
  /** The provider's idempotency key: two e-mails with the same are one. */
  dedupe: string
  /** The subject of the e-mail, for listeners when it is settled: `delivery_run:<id>`. */
  ref?: string
  /**
   * It carries something that opens a door, such as a link to sign in: it is in the outbox
   * sealed.
   */
  confidential?: boolean
  /**
   * It is sent on a schedule: recipients outside the account must have agreed to it, and every
   * recipient can end it by a link in it.
   */
  recurring?: boolean
  /** It notifies users of the account, and has a link to their notification settings. */
  isNotice?: boolean
}

export type Mail = ReturnType<typeof createMail>

/** The content of the outbox: the e-mail, or its sealed text. */
export type PostedMailMessage = FrozenMailMessage | { sealed: string }

export const sealContext = (dedupe: string) => `email ${dedupe}`

export interface MailDeps extends Pick<Runtime, 'clock' | 'ids'> {
  outbox: Outbox
  vault: Vault
  suppressions: SuppressionStore
  recipients: Recipients
  /** Where this service is reached, for links. */
  baseUrl: string
  serviceName: string
  /** Sender of every e-mail: an address, or a name and an address. */
  sender: string
  /** Whether a provider sends e-mail; without one every message fails. */
  reaches: boolean
}

export function createMail(deps: MailDeps) {
  const { outbox, vault, suppressions, recipients, sender, clock, ids } = deps
  const baseUrl = deps.baseUrl.replace(/\/$/, '')
  const preferencesUrl = `${baseUrl}/account/notifications`
  const suppressed = (to: string): string | undefined => {
    const address = plainAddress(to)
    if (address === undefined) return 'It is not an e-mail address.'
    return suppressions.find(address.toLowerCase())?.reason
  }

  const addressOf = (to: string) => (plainAddress(to) ?? to).toLowerCase()
  const refusal = ({
    to,
    accountId,
    confidential,
    recurring,
  }: Pick<MailMessage, 'to' | 'accountId' | 'confidential' | 'recurring'>): string | undefined => {
    const reason = suppressed(to)
    if (reason !== undefined || accountId === null) return reason
    const recipient = { accountId, address: addressOf(to) }
    const state = recurring ? recipients.state(recipient) : 'own'
    if (state === 'declined') return 'The address has unsubscribed.'
    if (state === 'waiting') return 'The address has not confirmed the subscription yet.'
    // Anyone who waits for a link to sign in must not wait for the e-mails of others.
    return confidential && recipients.isOwn(recipient) ? undefined : recipients.overLimit(recipient)
  }
  const linkTo = (page: string, accountId: string, to: string) =>
    `${baseUrl}/mail/${page}?token=${recipients.token({ accountId, address: addressOf(to) })}`

  const messageOf = (mailMessage: MailMessage): Message => {
    const { to, accountId, confidential, recurring, dedupe, ref } = mailMessage
    const reason = refusal(mailMessage)
    const endUrl =
      recurring && accountId !== null ? linkTo('unsubscribe', accountId, to) : undefined
    const plain = JSON.stringify(
      frozen(mailMessage, { sender, baseUrl, endUrl, preferencesUrl, postedAt: clock.now() }),
    )
    const sealed = () =>
      JSON.stringify({
        sealed: Buffer.from(vault.seal(sealContext(dedupe), plain)).toString('base64'),
      })
    return {
      kind: 'email',
      // E-mails that someone waits for do not queue behind those that someone gets.
      lane: confidential ? 'security' : 'email',
      eventId: dedupe,
      eventType: 'email',
      accountId,
      body: confidential ? sealed() : plain,
      ...(ref !== undefined && { ref }),
      ...(reason !== undefined && { skipped: reason }),
    }
  }

  const count = ({ accountId, to }: MailMessage) => {
    if (accountId !== null) recipients.count({ accountId, address: addressOf(to) })
  }
  const post = (mailMessage: MailMessage): string | undefined => {
    const message = messageOf(mailMessage)
    const id = outbox.put(message)
    if (message.skipped !== undefined || id === undefined) return undefined
    count(mailMessage)
    return id
  }

  return {
    reaches: deps.reaches,
    /** Why an e-mail is not sent; undefined: it is. */
    refusal,
    /** Why nothing at all is sent to an address; undefined: mail for it is sent. */
    suppressed,
    /** The address of a page of this service, for an e-mail that speaks of it: `/alerts/…`. */
    pageUrl: (path: string) => `${baseUrl}${path}`,
    /** The state of an address for recurring e-mails of an account. */
    recipientState: (accountId: string, to: string): RecipientState =>
      recipients.state({ accountId, address: addressOf(to) }),
    /** Whether an e-mail to an address may carry what the account has written. */
    takesText: (accountId: string, to: string) =>
      recipients.takesText({ accountId, address: addressOf(to) }),
    /**
     * Puts the e-mail into the outbox, inside the caller's transaction. Returns the message's id;
     * undefined when it was there already, or when nothing may be sent to the address: then it is in
     * the outbox as skipped, with the reason.
     */
    post,
    /**
     * Requests e-mails of an account to an address: an unverified recipient is sent a request for
     * consent, at most once a day. Runs inside the caller's transaction.
     */
    wish(accountId: string, to: string) {
      const recipient = { accountId, address: addressOf(to) }
      if (!recipients.wish(recipient)) return
      post({
        to,
        accountId,
        ...confirmationRequest(deps.serviceName, linkTo('agree', accountId, to)),
        // Without the address, which the erasure of the account must find in the body alone.
        dedupe: `agree:${ids.uuid()}`,
      })
    },
    /** As `post` for each, in few statements. */
    postAll(mailMessages: readonly MailMessage[]): (string | undefined)[] {
      const messages = mailMessages.map(messageOf)
      return outbox.putAll(messages).map((id, i) => {
        if (messages[i]!.skipped !== undefined || id === undefined) return undefined
        count(mailMessages[i]!)
        return id
      })
    },
  }
}

interface Posting {
  sender: string
  /** Addresses that begin with it can be pressed. */
  baseUrl: string
  /** The address at which scheduled e-mails are cancelled; undefined for a single e-mail. */
  endUrl: string | undefined
  /** Where users choose their notifications. */
  preferencesUrl: string
  postedAt: number
}

/** The final e-mail, independent of when it is sent. */
function frozen(
  { to, subject, text, html, attachments, isNotice }: MailMessage,
  { sender, baseUrl, endUrl, preferencesUrl, postedAt }: Posting,
): FrozenMailMessage {
  const footers = [
    ...(isNotice ? [`Notification settings: ${preferencesUrl}`] : []),
    ...(endUrl ? [`Unsubscribe: ${endUrl}`] : []),
  ]
  const body = html ?? (isNotice ? paragraphsHtml(text, baseUrl) : undefined)
  return {
    from: sender,
    to: plainAddress(to) ?? headerLine(to),
    subject: headerLine(subject),
    text: `${text.toWellFormed()}${footers.map(line => `\n${line}\n`).join('')}`,
    ...(body !== undefined && {
      html: [
        body.toWellFormed(),
        ...footers.map(line => `<p>${linkedHtml(line, baseUrl)}</p>`),
      ].join('\n'),
    }),
    ...(endUrl && { unsubscribeUrl: endUrl }),
    ...(attachments && {
      attachments: attachments.map(file => ({ ...file, filename: plainFilename(file.filename) })),
    }),
    postedAt,
  }
}

/** Contains nothing that the account has written: unverified recipients get no text of it. */
function confirmationRequest(
  serviceName: string,
  url: string,
): Pick<MailMessage, 'subject' | 'text' | 'html'> {
  const text = [
    `A user of ${serviceName} has asked to send scheduled price e-mails to this address.`,
    `To receive them, confirm here: ${url}`,
    'Otherwise ignore this e-mail; no more will be sent.',
    `${serviceName}\n`,
  ].join('\n\n')
  return {
    subject: `Confirm price e-mails from ${serviceName}`,
    text,
    html: paragraphsHtml(text, url),
  }
}
