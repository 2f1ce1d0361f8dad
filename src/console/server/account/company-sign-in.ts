import { t } from '../../../http/answer/schema.ts'
import { markCookie, markOf } from '../../../http/gate/session-cookie.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import type { Company } from '../../../topics/account/service/company.ts'
import { callbackPath } from '../../../topics/account/service/provider.ts'
import { ownPath } from '../own-path.ts'
import { seeOther } from '../page.ts'
import { fieldsOf, firstPage, frame, posted } from './sign-in.ts'
import { message } from './sign-in-pages.ts'

type Deps = Pick<Context, 'addressOf' | 'ownUrl' | 'serviceName' | 'sessions' | 'log'>

const path = '/sign-in/company'
const returning = { open: 'The identity provider vouches for the person.', rate: 'none' } as const
const taking = { ...returning, body: true } as const
const text = t.Optional(t.String())
/** Parameters that providers add, and that a sign-in does not need. */
const unused = ['error', 'error_description', 'session_state', 'scope', 'authuser', 'hd', 'prompt']
const named = Object.fromEntries(unused.map(name => [name, text]))

/** Signing in at the company's identity provider: redirect, return, and logout by the provider. */
export function companySignInOperations(company: Company, deps: Deps) {
  const { addressOf, ownUrl, log } = deps
  const { isSecure, cookieOf, page } = frame(deps)
  const refused = (because: string, options: { status: number; cookie?: string }) => {
    const link = { href: '/sign-in', text: 'Try again' }
    return page('Sign in', message({ text: because, wrong: true }, link), options)
  }
  return [
    operation(`GET ${path}`, {
      operationId: 'startCompanySignIn',
      summary: 'Sign in at the identity provider',
      hidden: true,
      access: { open: 'Signing in needs no credentials.' },
      query: { next: text },
      handle: async ({ query }) => {
        try {
          const next = ownPath(query.next)
          const { url, browser, lifetimeMs } = await company.begin(
            `${ownUrl()}${callbackPath}`,
            next,
          )
          return seeOther(url, markCookie(browser, lifetimeMs, isSecure()))
        } catch (error) {
          log.error('provider_unreachable', { error })
          return refused(
            'The identity provider cannot be reached. Try again later, or ask the operator for a sign-in link.',
            { status: 502 },
          )
        }
      },
    }),
    operation(`GET ${callbackPath}`, {
      operationId: 'completeCompanySignIn',
      summary: 'Return from the identity provider',
      hidden: true,
      access: returning,
      query: { ...named, code: text, state: text, iss: text },
      handle: async ({ query: { state, code, iss }, request }) => {
        const outcome = await company.complete(
          { state, code, iss, browser: markOf(request) },
          addressOf(request),
        )
        if ('refused' in outcome)
          return refused(outcome.refused, { status: 403, cookie: markCookie('', 0, isSecure()) })
        const { signedIn, next = firstPage, apart } = outcome
        const cookie = cookieOf(signedIn)
        if (apart === undefined) return seeOther(next, cookie)
        const body = message({ text: apart }, { href: next, text: 'Continue' })
        return page('You are signed in', body, { cookie })
      },
    }),
    operation(`POST ${path}/logout`, {
      ...posted('endCompanySignIn', 'End sign-ins by a logout token of the identity provider'),
      access: taking,
      handle: async ({ body, reply }) => {
        reply.headers['cache-control'] = 'no-store'
        const token = fieldsOf(body).get('logout_token')
        if (token !== null && (await company.logOut(token))) return {}
        reply.status = 400
        return { error: 'invalid_request' }
      },
    }),
  ]
}
