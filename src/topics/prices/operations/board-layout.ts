import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { body, field, readFields, text } from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import { ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { firstWatchlist } from '../../catalogue/math/first-watchlist.ts'
import type { BoardGroup, BoardLayout, SharedLayout } from '../store/board-layouts.ts'

/** As many as `GET /v1/prices/board` answers. */
const codesMax = 200
const groupsMax = 40
const nameMax = 60

const GroupShape = t.object('BoardGroup', {
  name: t.string('The heading of the group; empty: none.', 'Crude', { maxLength: nameMax }),
  codes: t.Array(t.String({ examples: ['WTI_USD'] }), {
    description: 'In the order in which they are shown.',
  }),
})

const groupsShown = t.Array(GroupShape, {
  description: 'In the order in which they are shown.',
})
const nameOfLayout = t.string('Name of the layout.', 'Crude desk', {
  minLength: 1,
  maxLength: nameMax,
})
const sharedMax = 40

const SharedShape = {
  name: nameOfLayout,
  groups: groupsShown,
  updated_at: t.instant('When it was last saved.'),
}

const SharedAnswer = envelopeOf({ layouts: t.objects('By name.', SharedShape) })

const LayoutAnswer = envelopeOf({
  groups: groupsShown,
  is_own: t.boolean(
    'False: nothing was saved yet. The codes are then demo codes with data, benchmarks and other series of this instance.',
  ),
  updated_at: t.instantOrNull('When it was last saved; null if never.'),
})

/** Notes what is wrong with the groups; codes come out as the catalogue writes them. */
function readGroups(form: Form, catalogue: Context['catalogue']): BoardGroup[] | undefined {
  const list = form.value('groups')
  if (list === undefined) return undefined
  if (!Array.isArray(list) || list.length > groupsMax)
    return form.fault('groups', `must be a list of at most ${groupsMax} groups.`)
  const items = form.items('groups')
  const taken = new Set<string>()
  const groups = list.map((_, i): BoardGroup => {
    const group = items.part(String(i))
    const { name = '', codes = [] } = readFields(groupFields(group, catalogue, taken), group)
    return { name: name.trim(), codes }
  })
  return taken.size <= codesMax
    ? groups
    : form.fault('groups', `must have at most ${codesMax} codes in total; got ${taken.size}.`)
}

const groupFields = (group: Form, catalogue: Context['catalogue'], taken: Set<string>) => ({
  name: text(nameMax),
  codes: field<string[]>(t.Array(t.String()), () => {
    const list = group.value('codes')
    if (!Array.isArray(list)) return group.fault('codes', 'must be a list of codes.')
    return list.flatMap((item, i) => {
      const series = typeof item === 'string' ? catalogue.named(item) : undefined
      if (!series) {
        const [near] = typeof item === 'string' ? catalogue.suggest(item.slice(0, 100)) : []
        const meant = near ? ` Did you mean ${near.code}?` : ' GET /v1/commodities lists them.'
        return group.fault(`codes.${i}`, `must be a known code.${meant}`, item) ?? []
      }
      if (taken.has(series.code))
        return group.fault(`codes.${i}`, `must not repeat ${series.code}.`) ?? []
      taken.add(series.code)
      return [series.code]
    })
  }),
})

const layoutBodyOf = (catalogue: Context['catalogue']) =>
  body({
    groups: field<BoardGroup[]>(
      t.Array(GroupShape, {
        maxItems: groupsMax,
        description: `At most ${codesMax} codes in total, each of them once. Aliases are accepted and returned as their codes.`,
      }),
      form => readGroups(form, catalogue),
    ),
  })

/** Which codes a person wants on the board, and the named layouts of an organization. */
export const boardLayoutOperations: Operations = [ownLayout, sharedLayouts]

const reading = { meter: false } as const

function ownLayout(deps: Context) {
  const { boardLayouts, catalogue, firstCodes, now } = deps
  const LayoutBody = layoutBodyOf(catalogue)
  /** Without any data, the demo codes: they are what the first data is likely to be. */
  const firstOf = (): string[] => {
    const demo = firstCodes.flatMap(code => catalogue.named(code) ?? [])
    const priced = catalogue.list().filter(catalogue.hasData)
    const shown = firstWatchlist(demo.filter(catalogue.hasData), priced)
    return shown.length > 0 ? shown.map(({ code }) => code) : [...firstCodes]
  }
  const row = (layout: BoardLayout | undefined) => ({
    status: 'success' as const,
    data: {
      groups: layout?.groups ?? [{ name: '', codes: firstOf() }],
      is_own: layout !== undefined,
      updated_at: layout ? isoInstant(layout.updatedAt) : null,
    },
  })
  const access = { meter: false, header: true, action: 'change_view' } as const
  return [
    operation('GET /v1/prices/board/layout', {
      operationId: 'getBoardLayout',
      summary: 'Get the watchlist',
      description:
        "Returns the codes on the caller's watchlist, in groups. Each member of an organization has their own.",
      access: reading,
      answers: { 200: LayoutAnswer },
      handle: ({ caller }) => row(boardLayouts.of(caller.key.holder.account.id)),
    }),
    operation('PUT /v1/prices/board/layout', {
      operationId: 'updateBoardLayout',
      summary: 'Replace the watchlist',
      description: 'Replaces the groups and order of the watchlist.',
      access,
      body: LayoutBody.schema,
      answers: { 200: LayoutAnswer },
      handle: ({ body: input, caller }) => {
        const { groups } = LayoutBody.read(input)
        const layout = { groups, updatedAt: now() }
        boardLayouts.put(caller.key.holder.account.id, layout)
        return row(layout)
      },
    }),
    operation('DELETE /v1/prices/board/layout', {
      operationId: 'resetBoardLayout',
      summary: 'Reset the watchlist',
      description: 'Resets the watchlist to the codes that a new user sees.',
      access,
      answers: { 200: LayoutAnswer },
      handle: ({ caller }) => {
        boardLayouts.remove(caller.key.holder.account.id)
        return row(undefined)
      },
    }),
  ]
}

const sharedRow = ({ name, groups, updatedAt }: SharedLayout) => ({
  name,
  groups,
  updated_at: isoInstant(updatedAt),
})

function sharedLayouts({ boardLayouts, catalogue, now }: Context) {
  const LayoutBody = layoutBodyOf(catalogue)
  const params = { name: nameOfLayout }
  const listed = ({ key }: Caller) =>
    success({ layouts: boardLayouts.shared(key.account.account.id).map(sharedRow) })
  return [
    operation('GET /v1/prices/board/layouts', {
      operationId: 'listSharedLayouts',
      summary: 'List shared watchlists',
      description:
        'Returns the named watchlists of the account, by name. Every member of an organization sees them.',
      access: reading,
      answers: { 200: SharedAnswer },
      handle: ({ caller }) => listed(caller),
    }),
    operation('PUT /v1/prices/board/layouts/:name', {
      operationId: 'saveSharedLayout',
      summary: 'Save a shared watchlist',
      description: `Creates a named watchlist that every member of the organization sees, or replaces the one of that name. At most ${sharedMax} of them. Admins of an organization only.`,
      access: { meter: false, header: true },
      params,
      body: LayoutBody.schema,
      answers: {
        200: envelopeOf({ layout: t.Object(SharedShape) }),
        422: ValidationProblem,
      },
      handle: ({ body: input, caller, params: { name } }) => {
        const { groups } = LayoutBody.read(input)
        const accountId = caller.key.account.account.id
        const shared = boardLayouts.shared(accountId)
        if (shared.length >= sharedMax && !shared.some(layout => layout.name === name))
          throw stateForbids(
            'validation_failed',
            `An account has at most ${sharedMax} shared watchlists. Delete one first.`,
          )
        const layout = { name, groups, updatedAt: now() }
        boardLayouts.share(accountId, layout)
        return success({ layout: sharedRow(layout) })
      },
    }),
    operation('DELETE /v1/prices/board/layouts/:name', {
      operationId: 'deleteSharedLayout',
      summary: 'Delete a shared watchlist',
      description:
        'Deletes a named watchlist for every member and returns those that remain; a name that does not exist changes nothing. Admins of an organization only.',
      access: { meter: false, header: true },
      params,
      answers: { 200: SharedAnswer },
      handle: ({ caller, params: { name } }) => {
        boardLayouts.unshare(caller.key.account.account.id, name)
        return listed(caller)
      },
    }),
  ]
}
