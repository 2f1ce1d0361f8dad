export interface TestResult {
  file: string
  /** With the names of the groups around it. */
  name: string
  outcome: 'passed' | 'failed' | 'skipped'
  message: string
}

const plain = (text: string) =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')

/** The tests in a JUnit report of `bun test`, which escapes every `<` and `"` of texts. */
export function readReport(xml: string): TestResult[] {
  const results: TestResult[] = []
  const groups: string[] = []
  const tags = /<(testsuite|testcase|failure|skipped)\b((?:\s+\w+="[^"]*")*)\s*\/?>|<\/testsuite>/g
  for (const [tag, kind, attributes = ''] of xml.matchAll(tags)) {
    const attribute = (name: string) =>
      plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')
    const newest = results.at(-1)
    if (kind === undefined) groups.pop()
    else if (kind === 'testsuite') {
      if (!tag.endsWith('/>')) groups.push(attribute('name'))
    } else if (kind === 'testcase') {
      // The outermost group is the file.
      const name = [...groups.slice(1), attribute('name')].join(' > ')
      results.push({ file: attribute('file'), name, outcome: 'passed', message: '' })
    } else if (newest) {
      newest.outcome = kind === 'failure' ? 'failed' : 'skipped'
      if (kind === 'failure') newest.message = attribute('message')
    }
  }
  return results
}

/** The seconds that each file of a report took. */
export function secondsOfFiles(xml: string): [file: string, seconds: number][] {
  // The group of a file comes at its own depth of the report, and its name is the path.
  const groups = /^ {2}<testsuite name="([^"]*)"[^>]*? time="([\d.]+)"/gm
  return [...xml.matchAll(groups)].map(([, file, time]) => [plain(file!), Number(time)])
}
