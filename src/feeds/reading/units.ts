/** Synonyms of units, each with the normalized word. */
const synonyms: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/u\.?s\.? dollars?|dollars?|usd|us\$|\$us/g, '$'],
  [/ ?\bper\b ?/g, '/'],
  [/million british thermal units?|million btu|mmbtu|mbtu/g, 'mmbtu'],
  [/million barrels?|mmbbl/g, 'mmbbl'],
  [/thousand barrels?|mbbl|kbbl/g, 'mbbl'],
  [/barrels?|\bbbl\b/g, 'bbl'],
  [/gallons?|\bgal\b/g, 'gal'],
  [/billion cubic feet|\bbcf\b/g, 'bcf'],
  [/million cubic feet|\bmmcf\b/g, 'mmcf'],
  [/metric tons?|metric tonnes?|tonnes?|\bmt\b/g, 'mt'],
  [/troy ounces?|troy oz|\boz\b/g, 'oz'],
  [/\bdays?\b|\bd\b/g, 'd'],
  [/\btbpd\b|\bkbd\b|\bkb\/d\b/g, 'mbbl/d'],
  [/\bmmb\/d\b|\bmmbpd\b/g, 'mmbbl/d'],
  [/number of |counts?|\bnumber\b/g, 'count'],
  [/percent|%/g, '%'],
  [/litres?|liters?/g, 'l'],
  [/\bpence\b/g, 'p'],
  [/€|\beuros?\b/g, 'eur'],
  [/(?<=\d)[,. ](?=\d{3})/g, ''],
]

/** A unit in one spelling: `($/bbl)` and `Dollars per Barrel` are `$/bbl`. */
function plainUnit(unit: string): string {
  let text = unit
    .trim()
    .toLowerCase()
    .replace(/^\((.*)\)$/, '$1')
  for (const [pattern, word] of synonyms) text = text.replaceAll(pattern, word)
  return text.replaceAll(/\s+/g, '')
}

/** Whether two spellings are of one unit. */
export const sameUnit = (a: string, b: string): boolean => plainUnit(a) === plainUnit(b)
