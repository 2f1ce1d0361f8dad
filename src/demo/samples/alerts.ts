import type { AlertCondition } from '../../topics/alerts/math/condition.ts'
import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const samples: readonly {
  id: number
  name: string
  code: string
  condition: AlertCondition
  cooldownMinutes: number
}[] = [
  {
    id: 201,
    name: 'Brent above 90',
    code: 'BRENT_CRUDE_USD',
    condition: { kind: 'price', operator: 'greater_than', value: 90 },
    cooldownMinutes: 60,
  },
  {
    id: 202,
    name: 'WTI far from its month',
    code: 'WTI_USD',
    condition: { kind: 'z_score', period: 30, threshold: 2, direction: 'both' },
    cooldownMinutes: 1440,
  },
  {
    id: 203,
    name: 'Henry Hub below 1',
    code: 'NATURAL_GAS_USD',
    condition: { kind: 'price', operator: 'less_than', value: 1 },
    cooldownMinutes: 60,
  },
]

/**
 * The alerts of the evaluation account: a standard one, an analytics one and one to delete.
 * Existing records are kept.
 */
export function sampleAlerts({ catalogue, alerts }: SampleServices, account: AccountState): void {
  for (const { id, code, ...settings } of samples) {
    const series = catalogue.named(code)
    if (!series || alerts.byId(sampleId(id))) continue
    alerts.create(
      account,
      { ...settings, seriesId: series.id, metadata: null, webhookUrl: null, enabled: true },
      { id: sampleId(id) },
    )
  }
}
