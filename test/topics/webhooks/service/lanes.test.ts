import { expect, test } from 'bun:test'
import { createWebhookLanes } from '../../../../src/topics/webhooks/service/lanes.ts'
import { openWebhookInstance } from '../../../support/topics/webhooks.ts'

test('an account has the share of the sending slots that its plan has, from the change of it on', () => {
  const instance = openWebhookInstance()
  const lanes = createWebhookLanes(instance.services)
  const account = instance.account('professional')
  const endpoint = instance.endpoint(account, { url: 'https://hooks.example/a' })
  const share = () => {
    const policy = lanes.policy(endpoint.id)
    return policy.state === 'open' ? policy.share : undefined
  }
  expect(share()).toEqual({ accountId: account.account.id, host: 'hooks.example', percent: 40 })
  instance.services.keyChanges.changeAccount(account, { plan: 'enterprise' })
  expect(share()?.percent).toBe(60)
})
