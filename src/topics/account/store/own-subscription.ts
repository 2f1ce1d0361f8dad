/**
 * Joins, as `s`, the subscription that an account pays for itself and has not cancelled. `account` is
 * the column with the account.
 */
export const ownSubscription = (account: string): string =>
  `subscriptions s ON s.account_id = ${account} AND s.ended_at IS NULL AND NOT s.cancel_at_period_end`
