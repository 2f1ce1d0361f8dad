import { openTestInstance } from '../instance/instance.ts'

/** The fields of responses that the tests read. */
export interface DeliveryAnswer {
  message: string
  errors: { field: string; message: string; reason?: string; nearest?: string[] }[]
  // biome-ignore lint/suspicious/noExplicitAny: each test reads other members.
  data: any
}

/** Day-ahead power of Germany as an operator would add it. */
export const germanPower = {
  code: 'DESK_POWER_EUR',
  name: 'German power, day ahead',
  category: 'power',
  unit: 'mwh',
  currency: 'EUR',
  time: 'delivery',
  resolutions: [
    { from: '2018-10-01', resolution: 'PT1H' },
    { from: '2025-10-01', resolution: 'PT15M' },
  ],
  zone: 'Europe/Berlin',
  gate_closes: '12:00',
  publishes_at: '12:45',
}

/** An instance with its operator and a reader's key, and a clock that the test moves. */
export function withDelivery() {
  const instance = openTestInstance()
  const operator = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
  const key = instance.key()
  return {
    ...instance,
    async admin(method: string, path: string, body?: unknown) {
      const response = await instance.send(method, `/admin/v1${path}`, body, undefined, {
        ...operator,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      })
      return { status: response.status, body: (await response.json()) as DeliveryAnswer }
    },
    async ask(path: string) {
      const response = await instance.get(path, key)
      return { status: response.status, body: (await response.json()) as DeliveryAnswer }
    },
  }
}
