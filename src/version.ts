import { version as packageVersion } from '../package.json'

export const version: string = packageVersion

/** The commit that the binary was built from, and its day; undefined for a source without history. */
export const build: { commit: string; day: string } | undefined = process.env.BUILD_COMMIT
  ? { commit: process.env.BUILD_COMMIT, day: process.env.BUILD_DAY ?? '' }
  : undefined
