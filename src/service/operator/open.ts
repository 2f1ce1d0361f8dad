import type { Runtime } from '../../runtime.ts'
import { createAdminTokenStore } from '../../store/operator/admin-tokens.ts'
import { type Settings, settingsStore } from '../../store/operator/settings.ts'
import { type AdminTokens, createAdminTokens } from './admin-tokens.ts'

export interface OperatorServices {
  settings: Settings
  adminTokens: AdminTokens
}

export const openOperator = ({
  db,
  clock,
  ids,
}: Pick<Runtime, 'db' | 'clock' | 'ids'>): OperatorServices => ({
  settings: settingsStore(db),
  adminTokens: createAdminTokens(createAdminTokenStore(db), clock, ids),
})
