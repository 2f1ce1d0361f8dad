/** Something happened that accounts may have asked to be told of. */
export interface HouseEvent {
  /** As in the interface's table of event types: `price.updated`. */
  type: string
  /** The `data` of the envelope, in wire form and wire order. */
  data: Readonly<Record<string, unknown>>
  at: number
  /** Two events of one type and account with the same text are the same event: it is emitted once. */
  dedupe: string
  /** Whose it is; absent: everybody's. */
  accountId?: string
  /** The catalogue code it is about, for the endpoints' filters. */
  commodity?: string
  /** Two letters, for the filters of permit events. */
  state?: string
}

export interface Events {
  /** Writes one webhook message for each endpoint that asked for the event, inside the caller's transaction. Answers how many. */
  emit(event: HouseEvent): number
  /** Sends the event of one account to a target that is no endpoint, signed with the account's secret: an alert's own `webhook_url`. */
  emitTo(url: string, event: HouseEvent & { accountId: string }): void
}
