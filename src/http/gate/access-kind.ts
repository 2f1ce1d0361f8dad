import type { OperatorArea } from '../../plans/roles/admin-roles.ts'
import type { Action } from '../../plans/roles/roles.ts'
import type { Feature } from '../../plans/tiers.ts'
import type { Problem } from '../problem/problem.ts'

export interface OpenAccess {
  /** Why no key is requested. `rate` `none` is for probes and documents, which nothing limits. */
  open: string
  rate?: 'default' | 'demo' | 'none'
  /** The request has a JSON body. */
  body?: true
  /** A query worker answers it. */
  queryWorker?: true
}

export interface OperatorAccess {
  /**
   * The operator's token, or a command on this machine. The area of the route decides which roles of
   * tokens may call it.
   */
  operator: OperatorArea
  /** It changes nothing, whatever its method. */
  readsOnly?: true
  /** Its effects are not recorded in the audit trail. */
  unaudited?: true
  /** A query worker answers it. */
  queryWorker?: true
}

export interface KeyAccess {
  /** One of these must be in the plan. */
  feature?: Feature | readonly Feature[]
  /** A window taken in addition to the general one. */
  rate?: 'marine' | 'marine-historical'
  /** Whether an answered request counts against the quota. */
  meter: boolean
  /**
   * The handler sets in the header `X-Quota-Requests` how many requests of the quota its response
   * costs; a cost beyond the rest of the quota is waived.
   */
  weighed?: true
  /**
   * Its work grows with the length of histories or the number of series, wells or permits: a query
   * worker answers it, and it is refused while the instance is overloaded.
   */
  heavy?: true
  /**
   * A query worker answers it, also while the instance is overloaded. False for a heavy route that
   * needs data that query workers do not have: other keys of the account, counts of the current
   * second.
   */
  queryWorker?: boolean
  /**
   * Whether a request to a route of query workers takes less time on the main thread than handing
   * it over.
   */
  isLight?: (query: Readonly<Record<string, string | undefined>>, request: Request) => boolean
  /** The key must be in the Authorization header. */
  header?: true
  /** A query parameter that carries the key as `api_key` does. */
  parameter?: string
  /** A read-only key may be in the path, after `/key/`. */
  linkKey?: true
  /** Passes its parameters to another operation, so none is unknown. */
  passesParametersOn?: true
  /**
   * The effect of the route on an account, for the roles of an organization; absent: GET reads,
   * everything else changes data.
   */
  action?: Action
  /**
   * It sets or reveals a secret: where the operator restricts secrets to users with two-factor
   * authentication or a recent sign-in, the restriction applies here too.
   */
  secret?: true
  /** The requests that it makes itself record its effects in the audit trail. */
  unaudited?: true
  /** The values that the path's parameter may have; another one is answered like an unknown route. */
  known?: KnownSegment
  /**
   * Refusals of the plan in the flat shape, as the drilling and intelligence families have them.
   */
  flat?: true
  /**
   * The response that replaces an error for clients that need their own format, such as a
   * spreadsheet function. It is settled as the error, whatever its status. Undefined: the error is
   * sent as usual.
   */
  refusalAnswer?: (problem: Problem, request: Request) => RefusalAnswer | undefined
  /** The schema of these responses, where every error is sent so. */
  refusalSchema?: object
}

/** The values of the parameter of a path that exist as routes. */
export interface KnownSegment {
  isKnown(params: Readonly<Record<string, string | undefined>>): boolean
  /** Completes the sentence "it must be …". */
  right: string
  /** Accepted values, of which the nearest one is suggested. */
  accepted?: readonly string[]
}

export interface RefusalAnswer {
  text: string
  /** 200 where the client can read nothing else. */
  status: number
  contentType: string
}

/** The callers that a route admits, and its cost. */
export type Access = OpenAccess | OperatorAccess | KeyAccess

export const isHeavy = (access: Access): boolean => 'heavy' in access && access.heavy === true

/** A query worker finds the values of a past moment; the newest ones are at hand. */
export const pastInQueryWorker = {
  queryWorker: true,
  isLight: ({ as_of }: Readonly<Record<string, string | undefined>>) => !as_of,
} as const

/** Whether query workers answer a route, where there are any. */
export const isForQueryWorker = (access: Access): boolean => access.queryWorker ?? isHeavy(access)
