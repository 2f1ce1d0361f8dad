import { Problem } from '../problem/problem.ts'
import type { Links } from '../problem/refusals.ts'
import type { RateSlots } from './rate-slots.ts'
import type { RequestContext } from './request-context.ts'

/** Refuses a request without valid credentials, which takes a slot of its client's address. */
export type Unauthorized = (context: RequestContext, why: string) => never

export const createUnauthorized =
  ({ takeAddress }: RateSlots, links: (request: Request) => Links): Unauthorized =>
  (context, why) => {
    takeAddress(context, 'unauthenticated')
    throw new Problem('UNAUTHORIZED', why, {
      signup_url: links(context.request).signupUrl,
      demo_endpoint: '/v1/demo/prices',
    })
  }
