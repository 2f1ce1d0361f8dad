import ipaddr from 'ipaddr.js'
import type { Ids } from '../../../lib/ids.ts'
import {
  sameHash,
  tokenCharacters,
  tokenHash,
  tokenHint,
  tokenName,
} from '../../../lib/secrets/token.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { type Entitlements, entitlements, type Plans } from '../../../plans/plans.ts'
import type { Role } from '../../../plans/roles/roles.ts'
import { isLimited } from '../../../plans/roles/scopes.ts'
import type { MembershipReader } from '../../account/store/organizations.ts'
import type { Account, AccountStore } from '../store/accounts.ts'
import type { ApiKey, ApiKeyStore } from '../store/api-keys.ts'

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * A key in memory with its account. The gate reads it on every request; changes are stored first.
 * Fields that nearly every request needs are in it and in its account, so that with ten thousand
 * active keys the gate fetches little memory for each.
 */
export interface KeyState {
  key: ApiKey
  /**
   * The account whose data and plan the key uses: for keys of an organization's members the
   * organization's account.
   */
  account: AccountState
  /**
   * The account that the key belongs to; its role is the key's. Outside an organization the same as
   * `account`.
   */
  holder: AccountState
  networks: readonly Network[]
  /**
   * Something of the key itself may keep a request out: an end, a suspension, a token before, or what
   * limits it. False: nothing of `key` and `networks` needs to be checked.
   */
  isRestricted: boolean
  lastUsedAt: number | null
}

export interface AccountState {
  account: Account
  isSuspended: boolean
  /** API keys that act on the account: its own, or all keys of its organization. */
  keys: KeyState[]
  /** The keys that count requests of signed-in users on the account. No list contains them. */
  sessions: KeyState[]
  /** The account that its keys act on: itself, or that of its organization. */
  actsOn: AccountState
  /** The user's role there. */
  role: Role
}

/** Everything whose requests are counted for an account. */
export const countedKeys = ({ keys, sessions }: AccountState): readonly KeyState[] =>
  sessions.length === 0 ? keys : [...keys, ...sessions]

/** The API keys that an account holds itself, whichever account they act on. */
export const heldKeys = (account: AccountState): KeyState[] =>
  account.actsOn.keys.filter(key => key.holder === account)

/** Every account and key in memory, found by the SHA-256 of the token. */
export type Keyring = ReturnType<typeof createKeyring>

/** The current rights of an account; undefined where it does not exist or is suspended. */
export function entitledNow(
  keys: Pick<Keyring, 'account' | 'entitlements'>,
  accountId: string,
): Entitlements | undefined {
  const account = keys.account(accountId)
  return account && account.account.suspendedAt === null ? keys.entitlements(account) : undefined
}

export interface NewKey
  extends Partial<
    Pick<ApiKey, 'name' | 'expiresAt' | 'readOnly' | 'allowedIps' | 'allowedDomains' | 'scopes'>
  > {
  id?: string
  token?: string
}

export interface KeyringStores {
  accounts: AccountStore
  keys: ApiKeyStore
  memberships: MembershipReader
}

/** A new account with a confirmed address, without a trial or add-ons. */
export const confirmedAccount = (
  { id, email, plan }: Pick<Account, 'id' | 'email' | 'plan'>,
  at: number,
): Account => ({
  id,
  email,
  plan,
  addOns: [],
  trialStartedAt: null,
  trialEndsAt: null,
  emailConfirmedAt: at,
  suspendedAt: null,
  createdAt: at,
})

export function createKeyring(stores: KeyringStores, plans: Plans, clock: Clock, ids: Ids) {
  let accounts = new Map<string, AccountState>()
  let keys = new Map<string, KeyState>()
  const tokens = createKeysByToken(clock)
  let byEmail = new Map<string, AccountState>()
  let addressChanges = 0

  const hold = (
    key: ApiKey,
    networks = networksOf(key),
    lastUsedAt: number | null = null,
  ): KeyState => {
    const holder = accounts.get(key.accountId)!
    const account = holder.actsOn
    const state = newKeyState(key, account, holder, networks, lastUsedAt)
    if (key.kind === 'session') {
      account.sessions.push(state)
      return state
    }
    account.keys.push(state)
    keys.set(key.id, state)
    tokens.add(state)
    return state
  }
  const reload = () => {
    accounts = new Map(stores.accounts.all().map(account => [account.id, newAccountState(account)]))
    byEmail = new Map([...accounts.values()].map(state => [state.account.email, state]))
    keys = new Map()
    tokens.clear()
    for (const membership of stores.memberships.memberships()) {
      Object.assign(accounts.get(membership.accountId)!, {
        actsOn: accounts.get(membership.actsOnId),
        role: membership.role,
      })
    }
    for (const { lastUsedAt, ...key } of stores.keys.all()) hold(key, networksOf(key), lastUsedAt)
  }
  reload()

  const changeKey = (
    state: KeyState,
    change: Partial<Omit<ApiKey, 'id' | 'accountId' | 'createdAt'>>,
  ) => {
    const next = { ...state.key, ...change }
    // Before the write: a network that is none must not leave the stores and the memory apart.
    const networks = networksOf(next)
    stores.keys.put(next)
    tokens.remove(state)
    state.key = next
    state.networks = networks
    state.isRestricted = restricts(next)
    tokens.add(state)
  }

  return {
    /** The key of a token; undefined when there is none in force. */
    find: tokens.find,
    byId: (id: string): KeyState | undefined => keys.get(id),
    account: (id: string): AccountState | undefined => accounts.get(id),
    accountByEmail: (email: string): AccountState | undefined => byEmail.get(email.toLowerCase()),
    accounts: (): AccountState[] => [...accounts.values()],
    /** How many addresses have changed since the start: while it stays, no one compares them all. */
    addressChanges: (): number => addressChanges,
    entitlements: ({ account }: AccountState): Entitlements =>
      entitlements(plans, account, clock.now()),
    putAccount(account: Account): AccountState {
      stores.accounts.put(account)
      const cached = accounts.get(account.id)
      if (cached) {
        if (cached.account.email !== account.email) addressChanges += 1
        byEmail.delete(cached.account.email)
        cached.account = account
        cached.isSuspended = account.suspendedAt !== null
      }
      const state = cached ?? newAccountState(account)
      accounts.set(account.id, state)
      byEmail.set(account.email, state)
      return state
    },
    /** Makes a key; the token is in the answer and nowhere else. */
    addKey(account: AccountState, options: NewKey = {}): { state: KeyState; token: string } {
      const token = options.token ?? ids.token()
      const key = newKey('api', account.account.id, token, clock.now(), {
        ...options,
        id: options.id ?? ids.uuid(),
      })
      const networks = networksOf(key)
      stores.keys.put(key)
      return { state: hold(key, networks), token }
    },
    /**
     * The key that counts the requests of users signed in to an account, created at the first
     * sign-in.
     */
    sessionKey(account: AccountState): KeyState {
      const { id } = account.account
      const sessionKey = account.actsOn.sessions.find(session => session.holder === account)
      if (sessionKey) return sessionKey
      // A row must have a token's hash; this token is known to no one.
      const key = newKey('session', id, ids.token(), clock.now(), { id })
      stores.keys.put(key)
      return hold(key)
    },
    /** Reads again on which account an account acts and as what. */
    place(accountId: string) {
      const state = accounts.get(accountId)
      if (!state) return
      const membership = stores.memberships.membershipOf(accountId)
      state.role = membership?.role ?? 'admin'
      moveKeys(state, (membership && accounts.get(membership.actsOnId)) ?? state)
    },
    /** Replaces what may change of a key. */
    changeKey,
    /** A new token for the same key; the old one ends at once, or after `overlapMs`. */
    rollKey(state: KeyState, overlapMs: number = 0) {
      const token = ids.token()
      changeKey(state, {
        tokenHash: tokenHash(token),
        tokenHint: tokenHint(token),
        previousHash: overlapMs > 0 ? state.key.tokenHash : null,
        previousUntil: overlapMs > 0 ? clock.now() + overlapMs : null,
      })
      return token
    },
    /** Whether an address may use the key. */
    allows,
    /** Forgets what is in memory and reads the stores again. */
    reload,
  }
}

/** Keys by the hashes of their tokens: the one that is good, and the one before while it lasts. */
function createKeysByToken(clock: Clock) {
  const byHash = new Map<string, KeyState>()
  const nameOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex')
  /** Whether a restricted key is good still, and for this token. */
  const isInForce = ({ key }: KeyState, token: string): boolean => {
    const now = clock.now()
    if (key.expiresAt !== null && now >= key.expiresAt) return false
    const isPrevious = key.previousHash !== null && sameHash(key.previousHash, tokenHash(token))
    return !isPrevious || now < (key.previousUntil ?? 0)
  }
  return {
    add(state: KeyState): void {
      const { key } = state
      if (key.revokedAt !== null) return
      byHash.set(nameOf(key.tokenHash), state)
      if (key.previousHash) byHash.set(nameOf(key.previousHash), state)
    },
    remove({ key }: KeyState): void {
      byHash.delete(nameOf(key.tokenHash))
      if (key.previousHash) byHash.delete(nameOf(key.previousHash))
    },
    clear: () => byHash.clear(),
    find(token: string): KeyState | undefined {
      if (token.length !== tokenCharacters) return undefined
      const state = byHash.get(tokenName(token))
      return state?.isRestricted && !isInForce(state, token) ? undefined : state
    },
  }
}

/** Keys and sessions of an account act on the account of its organization, or on their own. */
function moveKeys(holder: AccountState, target: AccountState): void {
  const from = holder.actsOn
  if (from === target) return
  const isOwn = (key: KeyState) => key.holder === holder
  for (const list of ['keys', 'sessions'] as const) {
    const moving = from[list].filter(isOwn)
    from[list] = from[list].filter(key => !isOwn(key))
    for (const key of moving) key.account = target
    target[list].push(...moving)
  }
  holder.actsOn = target
}

function allows({ networks }: KeyState, address: string): boolean {
  if (networks.length === 0) return true
  if (!ipaddr.isValid(address)) return false
  const client = ipaddr.process(address)
  return networks.some(
    ([network, bits]) => client.kind() === network.kind() && client.match(network, bits),
  )
}

/** An account that acts on itself. */
export function newAccountState(account: Account): AccountState {
  const isSuspended = account.suspendedAt !== null
  const state = { account, isSuspended, keys: [], sessions: [], role: 'admin' } as Omit<
    AccountState,
    'actsOn'
  > as AccountState
  state.actsOn = state
  return state
}

/** A key without requests yet. */
export const newKeyState = (
  key: ApiKey,
  account: AccountState,
  holder: AccountState,
  networks: readonly Network[] = [],
  lastUsedAt: number | null = null,
): KeyState => ({
  account,
  holder,
  isRestricted: restricts(key),
  lastUsedAt,
  key,
  networks,
})

const restricts = (key: ApiKey): boolean =>
  key.suspendedAt !== null || key.previousHash !== null || isLimited(key)

const networksOf = (key: ApiKey): readonly Network[] => key.allowedIps.map(parseNetwork)

const newKey = (
  kind: ApiKey['kind'],
  accountId: string,
  token: string,
  createdAt: number,
  options: NewKey & { id: string },
): ApiKey => ({
  id: options.id,
  accountId,
  kind,
  name: options.name ?? null,
  tokenHash: tokenHash(token),
  tokenHint: tokenHint(token),
  previousHash: null,
  previousUntil: null,
  createdAt,
  revokedAt: null,
  suspendedAt: null,
  expiresAt: options.expiresAt ?? null,
  readOnly: options.readOnly ?? false,
  allowedIps: options.allowedIps ?? [],
  allowedDomains: options.allowedDomains ?? [],
  scopes: options.scopes ?? [],
})

function parseNetwork(text: string): Network {
  if (text.includes('/')) return plainNetwork(...ipaddr.parseCIDR(text))
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/**
 * Clients whose IPv4 address is mapped into IPv6 are compared as IPv4, so a network written that
 * way is too.
 */
const plainNetwork = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): Network =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
    ? [address.toIPv4Address(), bits - 96]
    : [address, bits]
