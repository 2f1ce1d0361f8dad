import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { type Averaged, type Definition, definitionsOf } from './definitions.ts'
import { familyIdOf, isRank, partsOf, type RankPart } from './ranks.ts'

/** Which series are computed, and from which others. */
export type Relations = ReturnType<typeof createRelations>

export function createRelations(
  catalogue: Pick<Catalogue, 'everything' | 'find' | 'byId' | 'contractsOf'>,
) {
  let known: ReturnType<typeof relationsOf> | undefined
  const parts = new Map<number, RankPart[]>()
  const rankParts = (rankId: number): readonly RankPart[] =>
    parts.getOrInsertComputed(rankId, () =>
      partsOf(rankId, catalogue.contractsOf(catalogue.byId(familyIdOf(rankId)))),
    )
  const current = () => {
    if (known) return known
    parts.clear()
    known = relationsOf(definitionsOf(catalogue), id => rankParts(id).map(part => part.seriesId))
    return known
  }
  const dependentsOf = (seriesId: number): readonly number[] =>
    current().dependents.get(seriesId) ?? []
  return {
    definitions: () => current().definitions,
    definitionOf: (seriesId: number) => current().definitions.get(seriesId),
    isFormula: (seriesId: number) => current().definitions.has(seriesId),
    /** The contracts of a rank, each with the days on which it has the rank. */
    rankParts,
    /** Series by formula that use a series, each after those that it uses. */
    dependentsOf,
    /** The series that one is computed from, over any number of levels. */
    usedBy: (seriesId: number): Iterable<number> => current().uses.get(seriesId) ?? [],
    /** A series with all that is computed from it. */
    heldBy: (seriesId: number): readonly number[] => [
      seriesId,
      ...dependentsOf(seriesId),
      ...(current().ranks.get(seriesId) ?? []),
    ],
    /** The terms of series are others. */
    forget() {
      known = undefined
    },
  }
}

/** The series that each formula uses, and the formulas that use a series, over any number of levels. */
function relationsOf(
  definitions: ReadonlyMap<number, Definition | Averaged | undefined>,
  contractsOf: (rankId: number) => readonly number[],
) {
  const dependents = new Map<number, number[]>()
  /** Ranks by the contracts that they read. */
  const ranks = new Map<number, Set<number>>()
  const uses = new Map<number, Set<number>>()
  for (const [id, definition] of definitions) {
    const own = new Set<number>()
    for (const { id: leg } of definition?.series ?? []) {
      if (!isRank(leg)) own.add(leg)
      for (const contract of isRank(leg) ? contractsOf(leg) : []) {
        own.add(contract)
        ranks.getOrInsertComputed(contract, () => new Set()).add(leg)
      }
      for (const below of uses.get(leg) ?? []) own.add(below)
    }
    uses.set(id, own)
    for (const leg of own) dependents.getOrInsertComputed(leg, () => []).push(id)
  }
  return { definitions, uses, dependents, ranks }
}
