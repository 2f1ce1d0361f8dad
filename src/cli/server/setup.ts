import { rmSync } from 'node:fs'
import { operatorEmail } from '../../plans/roles/roles.ts'
import type { KeyLine } from '../accounts/keys.ts'
import type { CommandEnvironment } from '../command.ts'
import { credentialLines, credentialsPath, firstKeyName } from './first-start.ts'

/**
 * Replaces the first credentials and shows the new ones, for a user who never saw the first.
 * Refused once the first key was used; then `keys` and `token` have separate commands.
 */
export const setupAgain = async (env: CommandEnvironment, dir: string): Promise<void> => {
  const account = await env.accountPath(operatorEmail).catch(() => undefined)
  if (account === undefined)
    throw new Error(
      `there is no account ${operatorEmail}: an empty directory gets it with its first credentials from "wellhead serve"; for other accounts use "wellhead keys create" and "wellhead accounts link"`,
    )
  const { api_keys } = await env.answer<{ api_keys: KeyLine[] }>('GET', `${account}/keys`)
  const first = api_keys.find(key => key.name === firstKeyName && key.revoked_at === null)
  if (first?.last_used_at !== null)
    throw new Error(
      `the first credentials have already been used${first ? ` (key ${first.token_hint}, last at ${first.last_used_at})` : ''}; create new ones with "wellhead keys create ${operatorEmail}", "wellhead token rotate", "wellhead accounts link ${operatorEmail}"`,
    )
  const { api_key } = await env.answer<{ api_key: { plain_token: string } }>(
    'POST',
    `/admin/v1/keys/${first.id}/roll`,
    {},
  )
  const { admin_token } = await env.answer<{ admin_token: string }>(
    'POST',
    '/admin/v1/token/rotate',
  )
  const { sign_in_url } = await env.answer<{ sign_in_url: string }>('POST', `${account}/link`)
  // The credentials in the file are not valid any more.
  rmSync(credentialsPath(dir), { force: true })
  if (env.json)
    env.out(JSON.stringify({ api_key: api_key.plain_token, admin_token, sign_in_url }, null, 2))
  else
    for (const line of credentialLines({
      apiKey: api_key.plain_token,
      adminToken: admin_token,
      signInUrl: sign_in_url,
    }))
      env.out(line)
}
