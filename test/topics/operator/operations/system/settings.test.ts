import { expect, test } from 'bun:test'
import { people } from '../../../../support/topics/people.ts'

interface Setting {
  key: string
  value: string
  source: string
}

test('GET /admin/v1/settings returns the effective settings with their sources and without secrets', async () => {
  const secret = 'a-key-that-nobody-may-read'
  const { ask, services } = people({ 'backups.key': secret, 'log.level': 'warn' })
  const operator = `Bearer ${services.adminTokens.rotate()}`
  const answer = await ask('GET', '/admin/v1/settings', operator)
  expect(answer.status).toBe(200)
  const { settings } = answer.body.data as { settings: Setting[] }
  const setting = (key: string) => settings.find(setting => setting.key === key)
  expect(setting('log.level')).toMatchObject({ value: 'warn', source: 'flag log.level' })
  expect(setting('accounts.signup')).toMatchObject({ value: 'closed', source: 'default' })
  expect(setting('backups.key')!.value).toBe('[redacted]')
  expect(JSON.stringify(answer.body)).not.toContain(secret)
})

test('GET /admin/v1/settings is refused to everyone except the operator', async () => {
  const { ask, person } = people()
  expect((await ask('GET', '/admin/v1/settings')).status).toBe(401)
  expect((await ask('GET', '/admin/v1/settings', `Token ${person('ann').key}`)).status).toBe(401)
})
