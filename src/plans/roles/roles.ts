/** The account that the first start makes for the operator. */
export const operatorEmail = 'operator@localhost'

/** The roles in an organization. Outside of one, every user is admin of their account. */
export const roles = ['admin', 'member', 'read_only'] as const
export type Role = (typeof roles)[number]

/** What a person with a role is of an organization, in a sentence. */
export const memberWords: Readonly<Record<Role, string>> = {
  admin: 'an admin',
  member: 'a member',
  read_only: 'a read-only member',
}

/**
 * All effects of the API's routes on an account, and the roles that permit them. This is the
 * complete rule: the gate checks every request, and handlers check what depends on the object.
 */
const matrix = {
  /** Prices, usage and whatever else is only checked. */
  read: ['admin', 'member', 'read_only'],
  /** The user's own sign-in and membership. */
  self: ['admin', 'member', 'read_only'],
  /** What only the user sees, such as their watchlist. */
  change_view: ['admin', 'member', 'read_only'],
  /**
   * Creating one's API keys, and changing, rolling and revoking keys of members who are not admins.
   */
  change_keys: ['admin', 'member'],
  /**
   * The same with keys of admins: who rolls a key reads its token and acts with its holder's
   * rights.
   */
  change_admin_keys: ['admin'],
  /** Members, their roles and invitations. */
  change_members: ['admin'],
  /** Plans, payment methods and purchases. */
  change_billing: ['admin'],
  /** Alerts, webhooks, deliveries, watches, settings: what the account has alongside keys. */
  change_data: ['admin'],
  /** Secrets that sign or open something. */
  read_secrets: ['admin'],
} as const satisfies Record<string, readonly Role[]>

export type Action = keyof typeof matrix

/**
 * Actions that change rights or cost money, or reveal a secret: a limited key may do none of them,
 * or it could lift its limits.
 */
const managing: ReadonlySet<Action> = new Set<Action>([
  'self',
  'change_keys',
  'change_admin_keys',
  'change_members',
  'change_billing',
  'read_secrets',
])

export const isManaging = (action: Action): boolean => managing.has(action)

/**
 * Actions that an operator may require a recent sign-in for: an intruder could use them to stay
 * unnoticed.
 */
const sensitive: ReadonlySet<Action> = new Set<Action>([
  'change_keys',
  'change_admin_keys',
  'change_members',
  'read_secrets',
])

export const isSensitive = (action: Action): boolean => sensitive.has(action)

export const rolesFor = (action: Action): readonly Role[] => matrix[action]

export const may = (role: Role, action: Action): boolean => rolesFor(action).includes(role)

/** The default action of a request: GET and HEAD read, everything else changes data. */
export const actionOf = (method: string): Action =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'change_data'

/** `read-only` is read as `read_only`. */
export function roleOf(text: string): Role | undefined {
  const word = text === 'read-only' ? 'read_only' : text
  return roles.find(role => role === word)
}

/** Whether an admin remains: an organization without one could not be managed by anyone. */
export const keepsAdmin = (members: readonly { role: Role; accountId: string | null }[]): boolean =>
  members.some(member => member.role === 'admin' && member.accountId !== null)
