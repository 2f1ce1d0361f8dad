import type { Entitlements } from '../../plans/plans.ts'
import type { QuotaWindow } from '../../plans/quota.ts'
import type { AdminRole } from '../../plans/roles/admin-roles.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { KeyState } from '../../topics/keys/service/keyring.ts'
import type { QuotaUsage } from '../../topics/keys/service/meter.ts'
import type { WindowReading } from '../answer/rate-headers.ts'
import type { Access } from './access-kind.ts'
import type { PeerLookup } from './address.ts'
import type { AuditedAction } from './audited.ts'

export interface Caller {
  key: KeyState
  entitled: Entitlements
  /** The session that the request came with instead of a key. */
  session: Session | undefined
}

/** The account that calls. */
export const accountIdOf = ({ key }: Pick<Caller, 'key'>): string => key.account.account.id

/** The profile of a request's client, by its name. */
export interface AssignedProfile {
  name: string
  /** It shapes refusals only, as for requests that this instance makes for a client. */
  isForRefusals: boolean
}

/** A request that another thread has admitted: the caller, and the profile of the client. */
export interface Admitted {
  caller: Caller | undefined
  /** Undefined: none fits. */
  profile?: AssignedProfile | undefined
}

/**
 * One request on its way through the instance: made at the gate, settled when the status of its answer
 * is known.
 */
export interface RequestContext {
  access: Access
  request: Request
  peer: PeerLookup
  route: string
  startedMs: number
  caller: Caller | undefined
  /** The operator; undefined for requests of others. */
  actor: string | undefined
  /** Id of the operator's token; undefined for commands on this machine. */
  adminTokenId: string | undefined
  /** The role of the operator's token; undefined for commands on this machine. */
  adminRole: AdminRole | undefined
  /** The entry for the audit trail once the request is done; undefined: none. */
  action: AuditedAction | undefined
  /**
   * A page of the console sent the request: it is not charged to the account, and usage counts it
   * separately.
   */
  isBrowsing: boolean
  /**
   * The quota window that the request is charged to; it is credited if the response does not count.
   */
  reserved: QuotaWindow | undefined
  /** Set by a handler whose success is not charged, because it repeats an earlier response. */
  free: boolean
  /**
   * The request was made by this instance for an admitted caller, whose own request has been
   * charged.
   */
  vouched: boolean
  /** Names the file of which a part is requested; undefined: none is. */
  filePart: string | undefined
  /** The status to count, where the sent one hides a refusal. */
  outcome: number | undefined
  windows: WindowReading[]
  /** The quota in the headers while a simulated fault exhausts it. */
  simulated: SimulatedQuota | undefined
}

export type SimulatedQuota = Omit<QuotaUsage, 'entitled'>

/** A request that is not admitted yet. */
export const newRequestContext = (
  access: Access,
  request: Request,
  peer: PeerLookup,
  route: string,
  startedMs: number,
): RequestContext => ({
  access,
  request,
  peer,
  route,
  startedMs,
  caller: undefined,
  actor: undefined,
  adminTokenId: undefined,
  adminRole: undefined,
  action: undefined,
  isBrowsing: false,
  reserved: undefined,
  free: false,
  vouched: false,
  filePart: undefined,
  outcome: undefined,
  windows: [],
  simulated: undefined,
})
