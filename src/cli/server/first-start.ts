import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { transact } from '../../database/database.ts'
import { evaluationAccountId, openEvaluationAccount } from '../../demo/open.ts'
import type { Services } from '../../instance/services/services.ts'
import { readDisposable, writeSideFile } from '../../lib/files/side-file.ts'
import type { Log } from '../../lib/log/log.ts'
import { operatorEmail } from '../../plans/roles/roles.ts'
import { handedLinkMs } from '../../topics/account/service/sign-in.ts'
import { confirmedAccount } from '../../topics/keys/service/keyring.ts'
import { databaseBeganAt, operatorAccount } from '../../topics/operator/store/settings.ts'

/** Credentials that are shown once: the first API key and the admin token. */
export interface FirstKeys {
  apiKey: string | undefined
  adminToken: string | undefined
  /** Token of a link that signs in to the operator's account once. */
  linkToken?: string | undefined
}

export const firstKeyName = 'first key'

/**
 * An empty production directory gets the operator's account with one key, and the admin token. They
 * exist nowhere else afterwards.
 */
export function productionKeys(services: Services): FirstKeys {
  if (services.adminTokens.exists()) return { apiKey: undefined, adminToken: undefined }
  // One transaction: an account without a token could be neither used nor created again.
  return transact(services.db, () => makeProductionKeys(services))
}

function makeProductionKeys(services: Services): FirstKeys {
  const { keys, adminTokens, signIn, settings, ids, clock } = services
  const at = clock.now()
  settings.set(databaseBeganAt, String(at))
  const account = keys.putAccount(
    confirmedAccount({ id: ids.uuid(), email: operatorEmail, plan: 'enterprise' }, at),
  )
  settings.set(operatorAccount, account.account.id)
  const { token } = keys.addKey(account, { name: firstKeyName })
  return {
    apiKey: token,
    adminToken: adminTokens.rotate(),
    linkToken: signIn.makeLink(account, { lifetimeMs: handedLinkMs }),
  }
}

export const credentialLines = ({
  apiKey,
  adminToken,
  signInUrl,
}: {
  apiKey?: string | undefined
  adminToken?: string | undefined
  signInUrl?: string | undefined
}): string[] => [
  ...(apiKey ? [`API key:      ${apiKey}`] : []),
  ...(adminToken ? [`Admin token:  ${adminToken}`] : []),
  ...(signInUrl ? [`Sign in:      ${signInUrl}   (once, within an hour)`] : []),
]

export const credentialsPath = (dir: string) => join(dir, 'first-credentials')

/**
 * Writes the first credentials to a file that only its user can read, if output does not go to a
 * terminal, where it might be kept in a log. Returns its path.
 */
export function keepCredentials(dir: string, lines: readonly string[]): string {
  const path = credentialsPath(dir)
  writeSideFile(path, `${lines.join('\n')}\n`)
  return path
}

/** Reminds of the credentials file of an earlier start that still exists. */
export function remindOfCredentials(dir: string, log: Log): void {
  const path = credentialsPath(dir)
  if (existsSync(path))
    log.warn('first_credentials_stored', {
      path,
      message: 'The file with the first credentials is still there; delete it once it is read.',
    })
}

/**
 * A demo instance shows its key at every start, so it keeps it alongside the data in a file that
 * only its user can read; the link is a new one at each. Production never does this.
 */
export function evaluationKeys(services: Services, dir: string): FirstKeys {
  const path = join(dir, 'evaluation-keys.json')
  const stored = readDisposable(path, keysFrom, services.log)
  if (stored && services.keys.find(stored.apiKey) && services.adminTokens.find(stored.adminToken))
    return { ...stored, linkToken: evaluationLink(services) }
  const { linkToken, ...tokens } = transact(services.db, () => ({
    apiKey: openEvaluationAccount(services),
    adminToken: services.adminTokens.rotate(),
    linkToken: evaluationLink(services),
  }))
  writeSideFile(path, JSON.stringify(tokens))
  return { ...tokens, linkToken }
}

function evaluationLink({ keys, signIn }: Services): string | undefined {
  const account = keys.account(evaluationAccountId)
  return account && signIn.makeLink(account, { lifetimeMs: handedLinkMs })
}

function keysFrom(text: string): { apiKey: string; adminToken: string } {
  const { apiKey, adminToken } = JSON.parse(text) as Partial<FirstKeys>
  if (typeof apiKey !== 'string' || typeof adminToken !== 'string')
    throw new Error('it holds no keys')
  return { apiKey, adminToken }
}
