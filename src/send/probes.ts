import { accepted, type Handover, mayPass, putOff, toCorrect } from './handover.ts'

/** Tests that a provider is reached and knows this instance, by a request that changes nothing. */
export type Probe = (timeoutMs: number) => Promise<Handover>

interface Question {
  /** The base of the provider's interface. */
  url: string
  path: string
  authorization: string
  /** Whether a refusal shows that the credential is known and only may not do this. */
  isKnown?(body: string): boolean
}

const ask =
  ({ url, path, authorization, isKnown = () => false }: Question): Probe =>
  async timeoutMs => {
    try {
      const response = await fetch(`${url.replace(/\/$/, '')}${path}`, {
        headers: { authorization },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const { status } = response
      const body = await response.text()
      if (status < 300 || isKnown(body)) return accepted(status)
      const refusesKey = status === 401 || status === 403
      const reason = refusesKey ? 'it refuses the credential' : `it returns status ${status}`
      return mayPass(status) ? putOff(reason, status) : toCorrect(reason, status)
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      return putOff(isLate ? `no response within ${timeoutMs / 1000} s` : 'it cannot be reached')
    }
  }

export const stripeProbe = (url: string, key: string): Probe =>
  ask({ url, path: '/v1/subscriptions?limit=1', authorization: `Bearer ${key}` })

/** A key that may only send e-mails is refused every read under this name. */
export const resendProbe = (url: string, key: string): Probe =>
  ask({
    url,
    path: '/domains',
    authorization: `Bearer ${key}`,
    isKnown: body => body.includes('restricted_api_key'),
  })

export const twilioProbe = (url: string, account: string, token: string): Probe =>
  ask({
    url,
    path: `/2010-04-01/Accounts/${encodeURIComponent(account)}.json`,
    authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`,
  })
