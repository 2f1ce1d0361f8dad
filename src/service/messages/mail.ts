import type { Clock } from '../../lib/clock.ts'
import {
  type Attachment,
  type FrozenLetter,
  headerLine,
  plainAddress,
  plainFilename,
} from '../../send/messages/mailer.ts'
import type { SuppressionStore } from '../../store/messages/suppressions.ts'
import type { Vault } from '../keys/vault.ts'
import type { Message, Outbox } from '../outbox/outbox.ts'

export type { Attachment } from '../../send/messages/mailer.ts'

export interface Letter {
  to: string
  subject: string
  text: string
  html?: string
  attachments?: readonly Attachment[]
  accountId: string | null
  /** The provider's idempotency key: two letters with the same are one. */
  dedupe: string
  /** What the letter is about, for listeners when it is settled: `delivery_run:<id>`. */
  ref?: string
  /**
   * It carries something that opens a door, such as a link to sign in: it lies in the outbox
   * sealed.
   */
  confidential?: boolean
}

export interface Mail {
  /**
   * Puts the letter into the outbox, inside the caller's transaction. Answers the message's id;
   * undefined when it was there already, or when nothing is sent to the address: then the outbox
   * has it as skipped, with the reason.
   */
  post(letter: Letter): string | undefined
  /** As `post` for each, in few statements. */
  postAll(letters: readonly Letter[]): (string | undefined)[]
  /** Why nothing is sent to an address; undefined: mail for it is sent. */
  suppressed(to: string): string | undefined
}

/** What lies in the outbox: the letter, or its sealed text. */
export type PostedLetter = FrozenLetter | { sealed: string }

export const sealContext = (dedupe: string) => `email ${dedupe}`

export interface MailDeps {
  outbox: Outbox
  vault: Vault
  suppressions: SuppressionStore
  /** Sender of every letter: an address, or a name and an address. */
  sender: string
  clock: Clock
}

export function createMail({ outbox, vault, suppressions, sender, clock }: MailDeps): Mail {
  const suppressed = (to: string): string | undefined => {
    const address = plainAddress(to)
    if (address === undefined) return 'It is not an e-mail address.'
    return suppressions.find(address.toLowerCase())?.reason
  }

  const messageOf = ({
    to,
    subject,
    text,
    html,
    attachments,
    accountId,
    dedupe,
    ref,
    confidential,
  }: Letter): Message => {
    const reason = suppressed(to)
    const letter: FrozenLetter = {
      from: sender,
      to: plainAddress(to) ?? headerLine(to),
      subject: headerLine(subject),
      text: text.toWellFormed(),
      ...(html !== undefined && { html: html.toWellFormed() }),
      ...(attachments && {
        attachments: attachments.map(file => ({ ...file, filename: plainFilename(file.filename) })),
      }),
      postedAt: clock.now(),
    }
    const plain = JSON.stringify(letter)
    const sealed = () =>
      JSON.stringify({
        sealed: Buffer.from(vault.seal(sealContext(dedupe), plain)).toString('base64'),
      })
    return {
      kind: 'email',
      // Letters that somebody waits for do not queue behind those that somebody gets.
      lane: confidential ? 'security' : 'email',
      eventId: dedupe,
      eventType: 'email',
      accountId,
      body: confidential ? sealed() : plain,
      ...(ref !== undefined && { ref }),
      ...(reason !== undefined && { skipped: reason }),
    }
  }

  return {
    suppressed,
    post(letter) {
      const message = messageOf(letter)
      const id = outbox.put(message)
      return message.skipped === undefined ? id : undefined
    },
    postAll(letters) {
      const messages = letters.map(messageOf)
      return outbox
        .putAll(messages)
        .map((id, i) => (messages[i]!.skipped === undefined ? id : undefined))
    },
  }
}
