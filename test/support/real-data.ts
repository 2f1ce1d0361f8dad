import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Close } from '../../src/topics/prices/math/window.ts'
import { isHere, realDataFolder } from './requirements.ts'

const isPresent = isHere('../shared/data')

/** Rows of a file of public figures without its header, or with it from row 0 on. */
export const realRows = (path: string, from = 1): string[][] =>
  isPresent
    ? readFileSync(resolve(realDataFolder, path), 'utf8')
        .trim()
        .split('\n')
        .slice(from)
        .map(line => line.trim().split(','))
    : []

/** Daily closes of a file of date and price, blanks left out, up to and including `last`. */
export const realCloses = (path: string, last = '9999-12-31'): Close[] =>
  realRows(path)
    .filter(([day, price]) => day! <= last && price !== '' && price !== undefined)
    .map(([day, price]) => ({ day: day!, value: Number(price) }))
