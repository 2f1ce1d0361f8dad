import { Problem } from '../problem/problem.ts'
import type { Links } from '../problem/refusals.ts'
import type { RateSlots } from './rate-slots.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Refuses a request without valid credentials, which takes a slot of its client's address. A
 * customer is shown where to get a key; an admin token is not on offer.
 */
export type Unauthorized = (
  context: RequestContext,
  why: string,
  caller?: 'customer' | 'operator',
) => never

export const createUnauthorized =
  ({ takeAddress }: RateSlots, links: (request: Request) => Links): Unauthorized =>
  (context, why, caller = 'customer') => {
    takeAddress(context, 'unauthenticated')
    const ways =
      caller === 'customer'
        ? { signup_url: links(context.request).signupUrl, demo_endpoint: '/v1/demo/prices' }
        : {}
    throw new Problem('UNAUTHORIZED', why, ways)
  }
