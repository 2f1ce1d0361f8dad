import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import { type Averaged, type Definition, definitionsOf } from './definitions.ts'
import { familyIdOf, isRank, partsOf, type RankPart } from './ranks.ts'

/** Which series are computed, and from which others. */
export type Relations = ReturnType<typeof createRelations>

export function createRelations(
  catalogue: Pick<Catalogue, 'everything' | 'find' | 'byId' | 'contractsOf'>,
) {
  let known: ReturnType<typeof definitionsOf> | undefined
  let relations: ReturnType<typeof relationsOf> = {
    uses: new Map(),
    dependents: new Map(),
    ranks: new Map(),
  }
  const parts = new Map<number, RankPart[]>()
  const rankParts = (rankId: number): readonly RankPart[] => {
    const known = parts.get(rankId)
    if (known) return known
    const family = catalogue.byId(familyIdOf(rankId))
    const made = partsOf(rankId, catalogue.contractsOf(family))
    parts.set(rankId, made)
    return made
  }
  const definitions = () => {
    if (known) return known
    parts.clear()
    known = definitionsOf(catalogue)
    relations = relationsOf(known, id => rankParts(id).map(({ seriesId }) => seriesId))
    return known
  }
  const isFormula = (seriesId: number) => definitions().has(seriesId)
  const definitionOf = (seriesId: number) => definitions().get(seriesId)
  const dependentsOf = (seriesId: number): readonly number[] => {
    definitions()
    return relations.dependents.get(seriesId) ?? []
  }

  /** The series that one is computed from, over any number of levels. */
  const usedBy = (seriesId: number): Iterable<number> => {
    definitions()
    return relations.uses.get(seriesId) ?? []
  }

  /** A series with all that is computed from it. */
  const heldBy = (seriesId: number): readonly number[] => [
    seriesId,
    ...dependentsOf(seriesId),
    ...(relations.ranks.get(seriesId) ?? []),
  ]

  return {
    definitions,
    definitionOf,
    isFormula,
    /** The contracts of a rank, each with the days on which it has the rank. */
    rankParts,
    /** Series by formula that use a series, each after those that it uses. */
    dependentsOf,
    usedBy,
    heldBy,
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
        ranks.set(contract, (ranks.get(contract) ?? new Set()).add(leg))
      }
      for (const below of uses.get(leg) ?? []) own.add(below)
    }
    uses.set(id, own)
    for (const leg of own) {
      const known = dependents.get(leg)
      if (known) known.push(id)
      else dependents.set(leg, [id])
    }
  }
  return { uses, dependents, ranks }
}
