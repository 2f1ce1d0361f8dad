import { createHash } from 'node:crypto'

import { seal, unseal } from '../lib/secrets/seal.ts'
import { dayMs } from '../lib/time/instant.ts'
import { DoesNotOpen, type Vault } from '../topics/keys/service/vault.ts'
import type { IdempotencyStore } from '../topics/keys/store/idempotency.ts'
import { t } from './answer/schema.ts'
import { credentialsOf } from './gate/credentials.ts'
import type { Caller, RequestContext } from './gate/request-context.ts'
import { invalidParameter, stateForbids } from './problem/problem.ts'
import { pathOf } from './request-path.ts'

export interface IdempotencyDeps {
  store: IdempotencyStore
  /** Seals responses to callers without a token: commands on this machine. */
  vault: Pick<Vault, 'seal' | 'open'>
  /**
   * Reloads cached state after a change was rolled back because its response could not be stored.
   */
  reload(): void
  now(): number
}

/** The parts of its context that a handler passes on. */
export interface Repeatable {
  request: Request
  reply: { headers: Record<string, string | number>; status?: number | string }
  requestContext: RequestContext | undefined
  /** Undefined for the operator. */
  caller?: Caller
}

/**
 * Creating requests that may be sent again: with an `Idempotency-Key`, the first success is stored
 * for 24 hours per API key or admin token and path, in the transaction of the change, and a repeat
 * gets the same response. The response may contain a new token, and no token may be stored in plain
 * text. A placeholder would keep that rule but defeat the purpose: a caller who repeats a request
 * has lost the response, and with it the only copy of the token. So the response is sealed under
 * the caller's token, of which only a hash is stored: the same caller can get it again, and a
 * stolen database cannot reveal it. After a roll of that token the response cannot be opened any
 * more, and the repeat is refused like any other reuse. A command on this machine presents no
 * token: its responses are sealed under the master key and the text of the header.
 */
export type Idempotency = ReturnType<typeof createIdempotency>

const retentionMs = dayMs
const keyCharactersMax = 255
const forgottenAtOnce = 100

/** The header, for the documentation of a route. */
export const idempotencyHeader = t.Object({
  'idempotency-key': t.Optional(
    t.string(
      'Any text of 1 to 255 characters that identifies this request. Repeating the request with it within 24 hours returns the first response again and changes nothing.',
      '7c4c2f9e-2f6b-4b0e-9d59-0a3f0f6f1c55',
    ),
  ),
})

interface StoredAnswer {
  bodyHash: string
  status: number | string | undefined
  answer: unknown
}

const vaultContext = (context: string) => `idempotency ${context}`
const sha256 = (text: string) => createHash('sha256').update(text)

/** Seals stored responses, so that only the same caller can read them again. */
interface Sealing {
  seal(context: string, text: string): Uint8Array
  /** Undefined where it was sealed with another token. */
  unseal(context: string, sealed: Uint8Array): string | undefined
}

export function createIdempotency({ store, vault, reload, now }: IdempotencyDeps) {
  const withToken = (token: string): Sealing => ({
    seal: (context, text) => seal(token, context, text),
    unseal: (context, sealed) => unseal(token, context, sealed),
  })
  /**
   * Sealed with the name of the request as well, which is stored as a hash: a copy of both files is
   * not enough to open it.
   */
  const withMasterKey = (name: string): Sealing => ({
    seal: (context, text) =>
      vault.seal(vaultContext(context), Buffer.from(seal(name, context, text)).toString('base64')),
    unseal(context, sealed) {
      try {
        const inner = vault.open(vaultContext(context), sealed)
        return unseal(name, context, Buffer.from(inner, 'base64'))
      } catch (error) {
        if (error instanceof DoesNotOpen) return undefined
        throw error
      }
    },
  })
  /** The caller, and the secret that their responses are sealed with. */
  const ownerOf = ({ request, requestContext, caller }: Repeatable, name: string) => {
    const token = () => withToken(credentialsOf(request, true).token ?? '')
    if (caller) return { owner: caller.key.key.id, sealing: token() }
    if (requestContext?.adminTokenId !== undefined)
      return { owner: `token ${requestContext.adminTokenId}`, sealing: token() }
    return { owner: requestContext?.actor ?? 'command', sealing: withMasterKey(name) }
  }

  /**
   * Returns the earlier response, or a function that stores one; undefined if the request has no
   * key.
   */
  const opened = (repeatable: Repeatable, body: unknown) => {
    const { request, reply, requestContext } = repeatable
    const name = request.headers.get('idempotency-key')
    if (name === null) return undefined
    if (name.length < 1 || name.length > keyCharactersMax) {
      throw invalidParameter(
        'Idempotency-Key',
        name.slice(0, 32),
        `1 to ${keyCharactersMax} characters long`,
      )
    }
    const at = now()
    const { owner, sealing } = ownerOf(repeatable, name)
    const path = pathOf(request).replace(/(.)\/+$/, '$1')
    const requestHash = sha256(`${path}\n${name}`).digest()
    const bodyHash = sha256(JSON.stringify(body ?? null)).digest('hex')
    const context = `${owner} ${requestHash.toString('hex')}`

    const sealed = store.find(owner, requestHash, at - retentionMs)
    if (sealed) {
      const text = sealing.unseal(context, sealed)
      const stored = text === undefined ? undefined : (JSON.parse(text) as StoredAnswer)
      if (stored?.bodyHash !== bodyHash) throw reused(stored !== undefined)
      reply.headers['idempotent-replayed'] = 'true'
      reply.status = stored.status
      if (requestContext) requestContext.free = true
      return { stored }
    }
    const keep = (answer: unknown) => {
      const stored: StoredAnswer = { bodyHash, status: reply.status, answer }
      store.put({
        owner,
        requestHash,
        sealed: sealing.seal(context, JSON.stringify(stored)),
        createdAt: at,
      })
      store.forget(at - retentionMs, forgottenAtOnce)
    }
    return { keep }
  }

  const once = <T>(repeatable: Repeatable, body: unknown, work: () => T): T => {
    const opening = opened(repeatable, body)
    if (!opening) return work()
    if (opening.stored) return opening.stored.answer as T
    let isDone = false
    try {
      return store.together(() => {
        const answer = work()
        isDone = true
        opening.keep(answer)
        return answer
      })
    } catch (error) {
      if (isDone) reload()
      throw error
    }
  }

  return {
    /**
     * Runs `work`, or returns its first result again. Refusals are not stored: they changed
     * nothing, and a repeat may succeed.
     */
    once,
    /**
     * The same for work that waits for another service first: a repeat does not call that service
     * again.
     */
    async onceAfter<A, T>(
      repeatable: Repeatable,
      body: unknown,
      ahead: () => Promise<A>,
      work: (preparation: A) => T,
    ): Promise<T> {
      const before = opened(repeatable, body)
      if (before?.stored) return before.stored.answer as T
      const prepared = await ahead()
      // The same request may have arrived twice in the meantime: the first to get here makes the
      // answer.
      return once(repeatable, body, () => work(prepared))
    },
  }
}

const reused = (otherBody: boolean) =>
  stateForbids(
    'idempotency_key_reused',
    otherBody
      ? 'This Idempotency-Key was already used with a different request body.'
      : 'This Idempotency-Key came with an earlier token, and only that token can read its answer; a new request needs a new one.',
  )
