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

export const listAdminTokens = async (env: CommandEnvironment): Promise<void> => {
  const { tokens } = await env.answer<{ tokens: TokenLine[] }>('GET', path)
  env.print(tokens, tokenTable)
}

/** Makes a token with a name and a role and prints it, this once. */
export const createAdminToken = async (
  env: CommandEnvironment,
  name: string,
  { role }: { role: string },
): Promise<void> => {
  const { token } = await env.answer<{ token: TokenLine & { plain_token: string } }>('POST', path, {
    name,
    role,
  })
  env.print(token, adminToken => [
    ...tokenTable([adminToken]),
    '',
    ...tokenLines('Admin token', adminToken.plain_token),
  ])
}

export const revokeAdminToken = async (env: CommandEnvironment, id: string): Promise<void> => {
  const { token } = await env.answer<{ token: TokenLine }>(
    'DELETE',
    `${path}/${encodeURIComponent(id)}`,
  )
  env.print(token, ended => tokenTable([ended]))
}

/** Makes a new token for everything and prints it, this once; all earlier ones end. */
export const rotateAdminToken = async (env: CommandEnvironment): Promise<void> => {
  const body = await env.answer<{ admin_token: string }>('POST', '/admin/v1/token/rotate')
  env.print(body, ({ admin_token }) => tokenLines('Admin token', admin_token))
}
