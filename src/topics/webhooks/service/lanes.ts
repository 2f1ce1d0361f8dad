import { secondMs } from '../../../lib/time/instant.ts'
import type { LanePolicy, Lanes, OpenLane, Share } from '../../../outbox/outbox.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { AccountSecrets } from './account-secrets.ts'
import { lanedTarget } from './event-messages.ts'
import type { Webhooks } from './webhooks.ts'

export interface WebhookLanesDeps {
  webhooks: Pick<Webhooks, 'byId' | 'secrets'>
  accountSecrets: AccountSecrets
  keys: Pick<Keyring, 'account' | 'entitlements'>
}

/** An endpoint's settings of delivery, whether it is active or not. */
export const laneOf = (endpoint: Endpoint, secrets: readonly string[]): OpenLane => ({
  state: 'open',
  target: { url: endpoint.url, secrets, scheme: endpoint.signatureScheme },
  ratePerSecond: endpoint.rateLimitPerSecond,
  ordered: endpoint.ordered,
  timeoutMs: endpoint.timeoutSeconds * secondMs,
  maxRetries: endpoint.maxRetries,
  honourRetryAfter: endpoint.honorRetryAfter,
  debug: endpoint.debugMode,
})

const hostOf = (url: string): string => URL.parse(url)?.hostname ?? url

/** The lanes of webhooks: endpoints by id, and other targets of an account by URL. */
export const createWebhookLanes = ({ webhooks, accountSecrets, keys }: WebhookLanesDeps): Lanes => {
  const shareOf = (account: AccountState, url: string): Share => ({
    accountId: account.account.id,
    host: hostOf(url),
    percent: keys.entitlements(account).sendingSlotsPercent,
  })
  return {
    policy(lane): LanePolicy {
      const target = lanedTarget(lane)
      const targetAccount = target && keys.account(target.accountId)
      if (target && targetAccount) {
        return {
          state: 'open',
          target: {
            url: target.url,
            secrets: [accountSecrets.current(target.accountId).secret],
            scheme: 'timestamped',
          },
          share: shareOf(targetAccount, target.url),
        }
      }
      const endpoint = webhooks.byId(lane)
      if (!endpoint) return { state: 'gone', reason: 'The webhook endpoint was deleted.' }
      if (!endpoint.active) return { state: 'parked' }
      const account = keys.account(endpoint.accountId)
      const settings = laneOf(endpoint, webhooks.secrets(endpoint))
      return account ? { ...settings, share: shareOf(account, endpoint.url) } : settings
    },
  }
}
