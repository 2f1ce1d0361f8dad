import { publicUrl } from '../../config/address.ts'
import type { Config } from '../../config/config.ts'
import { createRandomIds } from '../../lib/ids.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import { mayPass } from '../../send/handover.ts'
import { createAskProvider, ProviderError } from '../../send/sign-in/provider-http.ts'
import { clientOf } from '../../topics/account/service/open.ts'
import {
  callbackPath,
  clockToleranceSeconds,
  createProvider,
  ProviderRefusal,
} from '../../topics/account/service/provider.ts'
import { doubtful, type Finding, faulty, fine, reasonOf, unreached } from './finding.ts'

const check = 'identity provider'
/** Errors of a sign-in that must not ask a person: the provider would have asked. */
const wouldAsk = ['login_required', 'interaction_required', 'consent_required']

/** Does what a sign-in does until a person is needed. Nothing is changed. */
export async function tryIdentityProvider(
  { oidc, server }: Config,
  clock: Clock,
  timeoutMs: number,
): Promise<Finding[]> {
  if (oidc.issuer === '' || oidc.clientId === '') return []
  const redirectUri = publicUrl(server) + callbackPath
  let client: ReturnType<typeof clientOf>
  try {
    client = clientOf(oidc)
  } catch (error) {
    return [faulty(check, reasonOf(error), 'correct oidc.client_secret_file')]
  }
  try {
    const ask = createAskProvider(clock, timeoutMs)
    const provider = createProvider({ client, ask, clock, ids: createRandomIds() })
    const signInUrl = await provider.examine(redirectUri)
    const response = await fetch(signInUrl, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return [
      fine(check, `${oidc.issuer} has keys, and accepts the client and its secret`),
      returning(response.headers.get('location') ?? '', redirectUri),
      ...skew(response.headers.get('date') ?? '', clock.now()),
    ]
  } catch (error) {
    return [failure(error)]
  }
}

function failure(error: unknown): Finding {
  const reason = reasonOf(error)
  if (error instanceof ProviderRefusal) return faulty(check, reason, 'correct oidc.issuer')
  if (error instanceof ProviderError && !mayPass(error.status))
    return faulty(
      check,
      reason,
      error.isAboutClient
        ? 'correct oidc.client_id and oidc.client_secret_file'
        : 'correct oidc.issuer and oidc.client_id',
    )
  return unreached(check, reason)
}

function returning(location: string, redirectUri: string): Finding {
  if (!location.startsWith(redirectUri))
    return doubtful(
      check,
      `it does not return people to ${redirectUri}`,
      'register exactly this redirect address at the provider; server.base_url is its beginning',
    )
  const error = new URL(location).searchParams.get('error')
  return error === null || wouldAsk.includes(error)
    ? fine(check, `it returns people to ${redirectUri}`)
    : faulty(
        check,
        `it refuses a sign-in: ${reasonOf(error)}`,
        'correct the client at the provider',
      )
}

/** `date` is the provider's clock, in whole seconds. */
function skew(date: string, now: number): Finding[] {
  const seconds = Math.abs(Date.parse(date) - now) / secondMs
  return seconds > clockToleranceSeconds
    ? [
        faulty(
          check,
          `the clock of this machine differs by ${Math.round(seconds)} s, so sign-ins are refused`,
          'synchronize the clock',
        ),
      ]
    : []
}
