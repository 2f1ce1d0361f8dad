import { expect } from 'bun:test'
import type { TestInstance } from '../../instance/instance.ts'

export const code = 'BRENT_CRUDE_USD'

export const standard = {
  name: 'Brent above 90',
  commodity_code: code,
  condition_operator: 'greater_than',
  condition_value: 90,
}

export const analytics = {
  name: 'Brent far off',
  commodity_code: code,
  analytics_type: 'z_score',
  analytics_config: { threshold: 2 },
}

export type Body = Record<string, unknown> & { id: string; errors: { field: string }[] }

export const bodyOf = async (response: Response) => (await response.json()) as Body

export const createAlert = async (
  { send }: TestInstance,
  token: string,
  body: object = standard,
): Promise<Body> => {
  const response = await send('POST', '/v1/alerts', { price_alert: body }, token)
  expect(response.status, await response.clone().text()).toBe(201)
  return bodyOf(response)
}
