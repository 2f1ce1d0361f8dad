/** A short message to a phone. */
export interface TextMessage {
  /** E.164. */
  to: string
  text: string
  accountId: string
  dedupe: string
  /** Alerts obey quiet hours, the daily maximum and the month's allowance; a code for verification does not. */
  purpose: 'alert' | 'verification' | 'test'
}

export interface Texts {
  /**
   * Puts the message into the outbox, inside the caller's transaction. For an account: only when its settings, plan and opt-in allow it.
   * Answers the message's id, undefined when it is not sent.
   */
  post(message: TextMessage): string | undefined
  /** The account's own number when it is verified and opted in to messages of this type now. */
  alertNumber(accountId: string, alertType: string): string | undefined
}
