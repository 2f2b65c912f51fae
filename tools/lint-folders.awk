# Finds members of types that are declared in one folder of EntityStore and used in a folder below it.
#
# Reads the files twice: with pass=1 their declarations, with pass=2 the uses. The variable `order` lists the folders
# from the bottom up. A member counts when every declaration of its name is in one folder, so that its owner is
# certain. Declarations of other modules, cases and functions within functions count for that, and so do the names
# in `common`, which the standard library declares too. A name without a dot before it is no use in a file that has a
# constant, a variable or a parameter of this name.
#
# Relies on the indentation that swift format gives: a member stands two spaces further in than its type.
#
# Prints a line for each use: the folder, the owner's folder, the name and the place; and last the number of members
# that it looked at.

BEGIN {
  count = split(order, listed, " ")
  for (i = 1; i <= count; i++) rank[listed[i]] = i
  count = split(common, listed, " ")
  for (i = 1; i <= count; i++) home[listed[i]] = "elsewhere"
}

FNR == 1 { depth = 0; conditions = 0; isText = 0; folder = folderOf(FILENAME) }

{
  line = $0
  if (index(line, "\"\"\"")) {
    if (line !~ /""".*"""/) isText = !isText
    next
  }
  if (isText) next
  gsub(/\\"/, "", line)
  gsub(/"[^"]*"/, "\"\"", line)
  sub(/\/\/.*/, "", line)
  if (line ~ /^ *$/) next
}

pass == 1 {
  if (line ~ /^ *#if/) conditions++
  if (line ~ /^ *#endif/) conditions--
  if (line ~ /^ *#/) next
  match(line, /^ */)
  indent = RLENGTH - 2 * conditions
  while (depth > 0 && indent <= types[depth] && line !~ /^ *[])>{]/) depth--
  isMember = depth > 0 && indent == types[depth] + 2
  noteNames(line)
  declaration = withoutModifiers(substr(line, indent + 2 * conditions + 1))
  keyword = declaration
  sub(/[^a-z].*/, "", keyword)
  if (keyword ~ /^(struct|class|enum|protocol|actor|extension)$/) {
    if (line !~ /}$/) types[++depth] = indent
    else if (match(declaration, /[{;] case /)) declareCases(substr(declaration, RSTART + 2))
  } else if (keyword == "func") {
    declare(nameIn(declaration), isMember)
  } else if (keyword == "case" && isMember) {
    declareCases(declaration)
  } else if ((keyword == "var" || keyword == "let") && isMember) {
    declare(nameIn(declaration), 1)
  }
  next
}

folder in rank {
  while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
    name = substr(line, RSTART, RLENGTH)
    isOfValue = RSTART > 1 && substr(line, RSTART - 1, 1) == "."
    line = substr(line, RSTART + RLENGTH)
    if (!isOfValue && line !~ /^\(/) continue
    if (!(name in members) || !(home[name] in rank)) continue
    if (!isOfValue && (FILENAME, name) in values) continue
    if (rank[home[name]] > rank[folder]) print folder, home[name], name, FILENAME ":" FNR
  }
}

END {
  for (name in members) if (home[name] in rank) looked++
  print "looked", looked + 0
}

function folderOf(path) {
  if (path !~ /^EntityStore\//) return "elsewhere"
  sub(/^EntityStore\//, "", path)
  return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "."
}

function nameIn(declaration) {
  sub(/^[a-z]+ +`?/, "", declaration)
  sub(/[^A-Za-z0-9_].*/, "", declaration)
  return declaration
}

function declare(name, isMember) {
  if (length(name) < 4) return
  if (!(name in home)) home[name] = folder
  else if (home[name] != folder && home[name] != "elsewhere") home[name] = "several"
  if (isMember) members[name] = 1
}

function declareCases(text,  cases, count, i) {
  sub(/^case +/, "", text)
  count = split(text, cases, /, */)
  for (i = 1; i <= count; i++) {
    sub(/^`/, "", cases[i])
    sub(/[^A-Za-z0-9_].*/, "", cases[i])
    declare(cases[i], 0)
  }
}

# Constants, variables and parameters of a file, and labels, which look like parameters.
function noteNames(text,  name) {
  while (match(text, /(let|var|for|in) +[A-Za-z_][A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_]*:|\([a-z][A-Za-z0-9]*,|, [a-z][A-Za-z0-9]*\)/)) {
    name = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    sub(/^(let|var|for|in) +/, "", name)
    gsub(/[^A-Za-z0-9_]/, "", name)
    values[FILENAME, name] = 1
  }
}

function withoutModifiers(text) {
  while (match(text, /^(@[A-Za-z_]+(\([^)]*\))?|public|package|internal|private|fileprivate|final|static|class|mutating|nonmutating|borrowing|consuming|indirect|override|lazy|weak|unowned|nonisolated|isolated|convenience|prefix|postfix|infix)(\([a-z]*\))? +/) && text !~ /^class +[A-Z]/)
    text = substr(text, RLENGTH + 1)
  return text
}
