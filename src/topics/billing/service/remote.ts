import type { AccountState } from '../../keys/service/keyring.ts'
import { createSubscriptionChanges } from './remote/changes.ts'
import { createCreditTransfer, createCustomers } from './remote/customers.ts'
import type { RemoteDeps } from './remote/deps.ts'
import { createMirror } from './remote/mirror.ts'
import { createPolling, createStateReader, type StateReader } from './remote/state-reader.ts'
import { createTurns } from './remote/turns.ts'
import type { SubscriptionEngine } from './terms.ts'

/** Subscriptions that a processor runs; they are mirrored here, and the plan follows the mirror. */
export interface RemoteSubscriptions extends SubscriptionEngine, StateReader {
  /** The account's name at the processor, made where there is none. */
  customerOf(account: AccountState): Promise<string>
  /**
   * Polls subscriptions whose period has ended without a message from the processor, and sends it
   * credits and changed addresses of its customers.
   */
  pass(): Promise<void>
}

export function createRemoteSubscriptions(deps: RemoteDeps): RemoteSubscriptions {
  const mirror = createMirror(deps)
  const inTurn = createTurns()
  const customers = createCustomers(deps)
  const state = createStateReader(deps, mirror, inTurn)
  const pollEnded = createPolling(deps, state.refresh)
  const handOverCredits = createCreditTransfer(deps, accountId =>
    inTurn(accountId, () => customers.handOverCredit(accountId)),
  )
  return {
    ...createSubscriptionChanges(deps, mirror, inTurn, customers),
    ...state,
    customerOf: customers.customerOf,
    async pass() {
      await pollEnded()
      await handOverCredits()
      await customers.readdress()
    },
  }
}
