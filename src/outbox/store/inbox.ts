import type { Database } from 'bun:sqlite'
import { statements } from '../../database/statement.ts'
import type { Attachment } from '../../send/messages/mailer.ts'

export type Channel = 'email' | 'sms'

/** A message that a demo instance took instead of sending it. */
export interface Captured {
  channel: Channel
  /** The message's own key. */
  eventId: string
  to: string
  subject: string | null
  text: string
  html: string | null
  attachments: readonly Attachment[]
  at: number
}

/** As it is there, with its number. */
export type InboxMessage = Captured & { number: number }

export type InboxStore = ReturnType<typeof createInboxStore>

const messagesMax = 1000

type Row = Omit<InboxMessage, 'attachments'> & { attachments: string }

const columns = `number, channel, event_id AS eventId, recipient AS "to", subject, text, html, attachments,
  captured_at AS at`

const capturedOf = (row: Row): InboxMessage => ({
  ...row,
  attachments: JSON.parse(row.attachments) as Attachment[],
})

export function createInboxStore(db: Database) {
  const sql = statements(db)
  const add = sql`
    INSERT INTO inbox (channel, event_id, recipient, subject, text, html, attachments, captured_at)
    VALUES ($channel, $eventId, $to, $subject, $text, $html, $attachments, $at)
    ON CONFLICT (channel, event_id) DO NOTHING`
  const bound = sql`
    DELETE FROM inbox WHERE channel = ?1 AND number <= (SELECT number FROM inbox WHERE channel = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${messagesMax})`
  const list = sql<Row, [Channel | null]>`
    SELECT ${columns} FROM inbox WHERE ?1 IS NULL OR channel = ?1 ORDER BY number`
  const find = sql<Row, [number]>`SELECT ${columns} FROM inbox WHERE number = ?`
  return {
    /** Once for each event; the oldest of the channel goes when there are too many. */
    add(m: Captured) {
      add.run({ ...m, attachments: JSON.stringify(m.attachments) })
      bound.run(m.channel)
    },
    find(number: number) {
      const row = find.get(number)
      return row ? capturedOf(row) : undefined
    },
    /** Oldest first; of one channel if named. */
    list: (channel: Channel | undefined) => list.all(channel ?? null).map(capturedOf),
  }
}
