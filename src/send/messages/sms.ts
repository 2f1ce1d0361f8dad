import type { Handover } from '../handover.ts'

/** A short message as it is sent. */
export interface ShortMessage {
  /** E.164. */
  to: string
  text: string
}

export interface SmsProvider {
  /** `key` is the message's own, on every attempt. */
  send(message: ShortMessage, key: string): Promise<Handover>
}
