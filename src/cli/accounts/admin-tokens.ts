import type { TokenShape as TokenLine } from '../../topics/operator/operations/system/tokens.ts'
import type { CommandEnvironment } from '../command.ts'
import { tableOf } from '../table.ts'
import { tokenLines } from './keys.ts'

const path = '/admin/v1/tokens'

const tokenTable = (tokens: readonly TokenLine[]) =>
  tableOf(tokens, {
    ID: 'id',
    TOKEN: 'token_hint',
    NAME: 'name',
    ROLE: 'role',
    STATE: token => (token.revoked_at === null ? 'active' : `revoked ${token.revoked_at}`),
    CREATED: 'created_at',
  })

export const listAdminTokens = (env: CommandEnvironment): Promise<void> =>
  env.showField('tokens', tokenTable, 'GET', path)

const madeLines = (token: TokenLine & { plain_token: string }) => [
  ...tokenTable([token]),
  '',
  ...tokenLines('Admin token', token.plain_token),
]

/** Makes a token with a name and a role and prints it, this once. */
export const createAdminToken = (
  env: CommandEnvironment,
  name: string,
  { role }: { role: string },
): Promise<void> => env.showField('token', madeLines, 'POST', path, { name, role })

export const revokeAdminToken = (env: CommandEnvironment, id: string): Promise<void> =>
  env.showField(
    'token',
    (token: TokenLine) => tokenTable([token]),
    'DELETE',
    `${path}/${encodeURIComponent(id)}`,
  )

/** Makes a new token for everything and prints it, this once; all earlier ones end. */
export const rotateAdminToken = (env: CommandEnvironment): Promise<void> =>
  env.show(
    ({ admin_token }: { admin_token: string }) => tokenLines('Admin token', admin_token),
    'POST',
    '/admin/v1/token/rotate',
  )
