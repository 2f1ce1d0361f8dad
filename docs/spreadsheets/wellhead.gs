/**
 * Spreadsheet functions that read prices from a Wellhead service.
 *
 * Extensions > Apps Script, paste this file, save, and reload the spreadsheet. The menu "Wellhead" then prompts for the address
 * of the service, which the servers of Google must be able to reach, and for your API key. Both are stored with your account,
 * not in the spreadsheet.
 */

/** Responses are cached this long, so that recalculating a sheet sends no request. */
const KEPT_SECONDS = 60
const ROWS_PER_PAGE = 100
const CODES_PER_REQUEST = 20

function onOpen() {
  SpreadsheetApp.getUi()
    .createMenu('Wellhead')
    .addItem('Address and key', 'setUpWellhead')
    .addToUi()
}

function setUpWellhead() {
  const ui = SpreadsheetApp.getUi()
  const properties = PropertiesService.getUserProperties()
  const questions = [
    ['WELLHEAD_URL', 'Address of the service, such as https://prices.example.com'],
    ['WELLHEAD_KEY', 'API key'],
  ]
  for (const [name, question] of questions) {
    const answer = ui.prompt('Wellhead', question, ui.ButtonSet.OK_CANCEL)
    if (answer.getSelectedButton() !== ui.Button.OK) return
    properties.setProperty(name, answer.getResponseText().trim())
  }
}

/** Calls the service; throws the message of an error. */
function askWellhead_(path, parameters) {
  const properties = PropertiesService.getUserProperties()
  const url = properties.getProperty('WELLHEAD_URL')
  const key = properties.getProperty('WELLHEAD_KEY')
  if (!url || !key) throw new Error('Set address and key in the menu Wellhead.')
  const query = Object.keys(parameters)
    .filter(name => parameters[name] !== undefined && parameters[name] !== '')
    .map(name => `${encodeURIComponent(name)}=${encodeURIComponent(parameters[name])}`)
    .join('&')
  const address = `${url.replace(/\/+$/, '')}${path}?${query}`
  const cache = CacheService.getUserCache()
  // The cache takes keys of 250 characters and texts of 100 KB; longer ones are requested again.
  const isKept = address.length <= 250
  const kept = isKept ? cache.get(address) : null
  if (kept !== null) return JSON.parse(kept)
  const response = UrlFetchApp.fetch(address, {
    headers: { Authorization: `Token ${key}`, Accept: 'application/json' },
    muteHttpExceptions: true,
  })
  const text = response.getContentText()
  const status = response.getResponseCode()
  if (status !== 200) throw new Error(refusalOfWellhead_(status, text))
  if (isKept && text.length < 50000) cache.put(address, text, KEPT_SECONDS)
  return JSON.parse(text)
}

function refusalOfWellhead_(status, text) {
  try {
    const body = JSON.parse(text)
    return body.message || body.error.message || `The service answered ${status}.`
  } catch (error) {
    return `The service answered ${status}.`
  }
}

/** The codes of a cell, a range of cells, or a text with commas; empty cells are empty texts. */
function codesOfWellhead_(codes) {
  const cells = Array.isArray(codes) ? codes.flat() : String(codes).split(',')
  return cells.map(code => String(code).trim())
}

/** A day as the service reads it, of a cell that holds a date or a text. */
function dayOfWellhead_(day) {
  return day instanceof Date ? day.toISOString().slice(0, 10) : day
}

/**
 * The newest price of a code, or another field of it.
 *
 * @param {"BRENT_CRUDE_USD"} code A code or an alias.
 * @param {"price"} field price (default), created_at, currency, unit, name, change_24h_percent.
 * @return The value.
 * @customfunction
 */
function WELLHEAD_PRICE(code, field) {
  const { data } = askWellhead_('/v1/prices/latest', { by_code: codesOfWellhead_(code)[0] })
  const value = data[field || 'price']
  if (value === undefined) throw new Error(`${field} is not a field of a price.`)
  return value === null ? '' : value
}

/**
 * The newest prices of a range of codes: code, price, currency, unit, change over 24 hours, time. A code without a price has
 * the reason instead, and an empty cell an empty row.
 *
 * @param {A2:A10} codes Cells with codes, or a text with commas.
 * @return A row for each cell.
 * @customfunction
 */
function WELLHEAD_LATEST(codes) {
  const cells = codesOfWellhead_(codes)
  const wanted = cells.filter(code => code !== '')
  const rows = []
  for (let start = 0; start < wanted.length; start += CODES_PER_REQUEST) {
    const part = wanted.slice(start, start + CODES_PER_REQUEST)
    const { data } = askWellhead_('/v1/prices/excel-latest', { codes: part.join(',') })
    const changes = changesOfWellhead_(data.rows)
    for (const row of data.rows) {
      const isThere = row.status === 'ok'
      rows.push([
        row.code,
        isThere ? row.value : row.status,
        row.currency || '',
        row.unit || '',
        isThere ? changes[row.code] : '',
        isThere ? new Date(row.timestamp) : '',
      ])
    }
  }
  return cells.map(code => (code === '' ? ['', '', '', '', '', ''] : rows.shift()))
}

/** The change over 24 hours in percent of each code that has a price. */
function changesOfWellhead_(rows) {
  const codes = rows.filter(row => row.status === 'ok').map(row => row.code)
  if (codes.length === 0) return {}
  const { data } = askWellhead_('/v1/prices/latest', { by_code: codes.join(',') })
  const changes = {}
  for (const row of data.prices || [data]) {
    changes[row.code] = row.change_24h_percent === null ? '' : row.change_24h_percent
  }
  return changes
}

/**
 * The history of a code, newest first: time and price, with a heading.
 *
 * @param {"WTI_USD"} code A code or an alias.
 * @param {"2026-01-01"} start First day; empty: 30 days ago.
 * @param {"2026-12-31"} end Last day; empty: today.
 * @param {"day"} interval raw, hour, day (default), week or month.
 * @return A row for each price.
 * @customfunction
 */
function WELLHEAD_HISTORY(code, start, end, interval) {
  const rows = [['Time', 'Price']]
  for (let page = 1; ; page += 1) {
    const { data, meta } = askWellhead_('/v1/prices/historical', {
      by_code: codesOfWellhead_(code)[0],
      start_date: dayOfWellhead_(start),
      end_date: dayOfWellhead_(end),
      interval: interval || 'day',
      page,
      per_page: ROWS_PER_PAGE,
    })
    for (const price of data.prices) rows.push([new Date(price.created_at), price.price])
    if (!meta.has_next) return rows
  }
}

/**
 * A futures curve: month, settlement, expiry, with a heading.
 *
 * @param {"CL"} family A slug such as exch-wti, or a ticker.
 * @return A row for each month.
 * @customfunction
 */
function WELLHEAD_CURVE(family) {
  const curve = askWellhead_(`/v1/futures/${encodeURIComponent(family)}/curve`, {})
  const rows = curve.contracts.map(contract => [
    contract.contract_month,
    contract.settlement_price,
    contract.expiry_date,
  ])
  return [['Month', 'Settlement', 'Expires'], ...rows]
}
