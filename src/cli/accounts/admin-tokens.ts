import type { TokenShape as TokenLine } from '../../topics/operator/operations/system/tokens.ts'
import { answerOf, type CommandEnvironment, print, runAgainstServer } from '../command.ts'
import { table } from '../table.ts'
import { tokenLines } from './keys.ts'

const path = '/admin/v1/tokens'

const tokenTable = (tokens: readonly TokenLine[]) =>
  table(
    ['ID', 'TOKEN', 'NAME', 'ROLE', 'STATE', 'CREATED'],
    tokens.map(token => [
      token.id,
      token.token_hint,
      token.name ?? '-',
      token.role,
      token.revoked_at === null ? 'active' : `revoked ${token.revoked_at}`,
      token.created_at,
    ]),
  )

export const listAdminTokens = (env: CommandEnvironment): Promise<number> =>
  runAgainstServer(env, 'token list', async () => {
    const { tokens } = await answerOf<{ tokens: TokenLine[] }>(env, 'GET', path)
    print(env, tokens, tokenTable)
  })

/** Makes a token with a name and a role and prints it, this once. */
export const createAdminToken = (
  env: CommandEnvironment,
  name: string,
  role: string,
): Promise<number> =>
  runAgainstServer(env, 'token create', async () => {
    const { token } = await answerOf<{ token: TokenLine & { plain_token: string } }>(
      env,
      'POST',
      path,
      { name, role },
    )
    print(env, token, adminToken => [
      ...tokenTable([adminToken]),
      '',
      ...tokenLines('Admin token', adminToken.plain_token),
    ])
  })

export const revokeAdminToken = (env: CommandEnvironment, id: string): Promise<number> =>
  runAgainstServer(env, 'token revoke', async () => {
    const { token } = await answerOf<{ token: TokenLine }>(
      env,
      'DELETE',
      `${path}/${encodeURIComponent(id)}`,
    )
    print(env, token, ended => tokenTable([ended]))
  })

/** Makes a new token for everything and prints it, this once; all earlier ones end. */
export const rotateAdminToken = (env: CommandEnvironment): Promise<number> =>
  runAgainstServer(env, 'token rotate', async () => {
    const body = await answerOf<{ admin_token: string }>(env, 'POST', '/admin/v1/token/rotate')
    print(env, body, ({ admin_token }) => tokenLines('Admin token', admin_token))
  })
