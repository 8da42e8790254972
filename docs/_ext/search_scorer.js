// How results of the search are ordered. Sphinx's values, and less for pages that record what was decided or measured:
// someone who searches for "shuffle" wants to use it.
var RECORDS = /^(CHANGELOG|CONTRIBUTING|RELEASING|benchmarks\/|docs\/design\/|docs\/(attacks|engines|faults|row-operations|tf-coverage|tf-guides|tf-tests)$)/;

var Scorer = {
  score: ([docname, title, anchor, description, score]) => (RECORDS.test(docname) ? score - 10 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
