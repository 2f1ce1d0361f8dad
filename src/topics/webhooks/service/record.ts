import type { Outbox } from '../../../outbox/outbox.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Account } from '../../keys/store/accounts.ts'
import type { Mail } from '../../messages/service/mail.ts'
import { linkedHtml } from '../../messages/service/mail-html.ts'
import type { Notices } from '../../messages/service/notices.ts'
import type { Endpoint } from '../store/webhooks.ts'
import type { Webhooks } from './webhooks.ts'

export interface WebhookRecordDeps {
  webhooks: Pick<Webhooks, 'byId' | 'settle' | 'disable'>
  outbox: Pick<Outbox, 'listen'>
  keys: Pick<Keyring, 'account'>
  mail: Mail
  notices: Notices
  /** Deliveries that end failed in a row before the endpoint is switched off. */
  deactivateAfter: number
}

/** Marks a delivery that tests an endpoint: its failure never disables the endpoint. */
export const testRef = 'test'

/**
 * Updates the record of an endpoint in the transaction that records the delivery, and disables an
 * endpoint whose deliveries keep failing: its owner is notified by e-mail and in the account's
 * notifications, and its messages keep waiting.
 */
export function keepWebhookRecords({
  webhooks,
  outbox,
  keys,
  mail,
  notices,
  deactivateAfter,
}: WebhookRecordDeps): void {
  outbox.listen('webhook', ({ lane, state, blameless, ref, at }) => {
    if (state === 'retry') return
    const endpoint = webhooks.byId(lane)
    if (!endpoint) return
    const inARow = webhooks.settle(lane, state, blameless || ref === testRef, at)
    if (inARow < deactivateAfter || !webhooks.disable(lane, 'consecutive_failures')) return
    const account = keys.account(endpoint.accountId)?.account
    if (account) notify(account, endpoint, at)
  })

  const notify = (account: Account, endpoint: Endpoint, at: number) => {
    const target = shownTarget(endpoint.url)
    mail.post({
      ...mailMessageOf(endpoint, target, deactivateAfter, mail.pageUrl(`/webhooks/${endpoint.id}`)),
      to: account.email,
      accountId: account.id,
      dedupe: `webhook-disabled ${endpoint.id} ${at}`,
      ref: `webhook:${endpoint.id}`,
      isNotice: true,
    })
    const message = `${target} has been switched off: ${deactivateAfter} deliveries in a row have failed.`
    const data = { webhook_id: endpoint.id, url: target, reason: 'consecutive_failures' }
    notices.post(
      {
        accountId: account.id,
        type: 'webhook_disabled',
        title: 'Webhook endpoint switched off',
        message,
        data,
      },
      at,
    )
  }
}

function mailMessageOf(
  { id, url, description }: Endpoint,
  target: string,
  failures: number,
  pageUrl: string,
) {
  const paragraphs = [
    `Your webhook endpoint ${target} has been switched off, because ${failures} deliveries in a row have failed.`,
    `It is the endpoint ${id}${description === null ? '' : `, "${description}"`}.`,
    'Events that were waiting for it are kept for 30 days. They go out when you switch it on again.',
    `What went wrong, and where to switch it on: ${pageUrl}`,
  ]
  return {
    subject: `Webhook endpoint switched off: ${new URL(url).host}`,
    text: `${paragraphs.join('\n\n')}\n`,
    html: paragraphs.map(text => `<p>${linkedHtml(text, pageUrl)}</p>`).join('\n'),
  }
}

/** An address without its query, where receivers like to put a token. */
function shownTarget(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
