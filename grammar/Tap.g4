// The grammar of Tap. Every decision in it needs one token of lookahead: whatever would need more is settled between the
// lexer and the parser, where some tokens get another type (compiler/frontend/syntax/retyping.cpp). Those types stand in
// `tokens` below:
//
//   contextual words   `for`, `in`, `op`, … are NAMEs for the lexer, and words of the language only where they act as such
//   REDUCTION          `sum` and its kin before a `[`;  `max(a, b)` keeps a NAME
//   USER_REDUCTION     the name in `online[j] (t[i, j], 1)`: the `(` follows the `]` on its line
//   ANGLE_OPEN, _CLOSE the brackets of `name<…>(`
//   LP_STATE           a `(` before `name =`: the state of an iterate
//   LP_LEFT            a `(` that begins a statement, or whose `)` is followed by `=`: `(v, at) = top1(x)`
//   PACK               the `..` of `batch..`; that of `0..n` is RANGE
//
// `expr` is flat: precedence is applied when the syntax tree is built (ast_expressions.cpp). What reaches as far right as
// it can (if, let, reductions) may only stand last in it. The rules are entered from `declaration`, `opHead`,
// `programHead` and `statement` directly, so that no tree is ever larger than a statement; `file` ties them together.
grammar Tap;

tokens {
    TAP, USE, DIM, MESH, MONOID, OP, EXTERN, REWRITE, PROGRAM,
    CONST, WHERE, WHEN, DEVICES,
    FOR, IN, BY, ITERATE, GROUP, BARRIER, SPLIT, ON, AXIS, INTO, OVER,
    INDEX, REDUCE, KEEP, READ, WRITE, AT, SHAPE, KERNEL, COST, FLOPS,
    IDENTITY, COMBINE, FOLD, REPLICATED, UNREDUCED,
    REDUCTION, USER_REDUCTION, ANGLE_OPEN, ANGLE_CLOSE, LP_STATE, LP_LEFT, PACK
}

// ---- declarations

file: (TAP INT ';'?)? (declaration | opDecl | programDecl)* EOF;

declaration: (uses=use | sizes=dims | devices=mesh | reduces=monoid | outside=externOperator | rewrites=rewriteRule) ';'*;

use: USE module=NAME;
dims: DIM items+=dimDefault (',' items+=dimDefault)*;
dimDefault: name=NAME '=' value=expr;

mesh: MESH name=NAME '=' '[' (axes+=meshAxis (',' axes+=meshAxis)*)? ']' list=deviceList?;
meshAxis: name=NAME ':' size=INT;
deviceList: DEVICES '[' (ids+=INT (',' ids+=INT)*)? ']';

opDecl: opHead statement* '}' ';'*;
opHead: OP head=signature '{';
signature: name=NAME params=paramList? '(' (inputs+=tensor (',' inputs+=tensor)*)? ')'
           '->' '(' (results+=tensor (',' results+=tensor)*)? ')' (WHERE conditions+=condition (',' conditions+=condition)*)?;
paramList: ANGLE_OPEN (items+=param (',' items+=param)*)? ANGLE_CLOSE;
param: name=NAME pack=PACK? ':' kind=NAME ('=' value=expr)?;
tensor: constant=CONST? name=NAME ':' element=NAME '[' (dim+=expr (',' dim+=expr)*)? close=']' layout=sharding?;
condition: left=expr (':' typeClass=NAME)?;

programDecl: programHead statement* '}' ';'*;
programHead: PROGRAM name=NAME '(' (inputs+=tensor (',' inputs+=tensor)*)? ')'
             '->' '(' (results+=tensor (',' results+=tensor)*)? ')' '{';

externOperator: EXTERN OP head=signature '{' (clauses+=externClause ';'*)* '}';
externClause
    : kind=INDEX '[' (dimensions+=externIndex (',' dimensions+=externIndex)*)? ']'
    | kind=(READ | WRITE) name=NAME AT '[' (corner+=expr (',' corner+=expr)*)? ']'
      SHAPE '[' (size+=expr (',' size+=expr)*)? ']' ('else' value=expr)?
    | kind=KERNEL symbol=STRING
    | kind=COST FLOPS value=expr
    ;
externIndex: kind=(REDUCE | KEEP)? name=NAME ':' extent=expr (BY reduceBy=NAME)?;

monoid: MONOID name=NAME params=paramList? '(' (components+=component (',' components+=component)*)? ')'
        (WHERE conditions+=condition (',' conditions+=condition)*)? '{' (clauses+=monoidClause ';'*)* '}';
component: name=NAME ':' element=NAME;
monoidClause
    : kind=IDENTITY body=expr
    | kind=COMBINE ('(' | LP_LEFT) names+=NAME (',' names+=NAME)* ')' '=' body=expr
    | kind=FOLD '[' index=NAME ']' ('(' | LP_LEFT) names+=NAME (',' names+=NAME)* ')' '=' body=expr
    ;

rewriteRule: REWRITE pattern=expr '=>' replacement=expr (WHEN guard=expr)?;

// ---- statements

// A statement without `=` is the result that ends the body of an iterate.
statement: (defines=equation | groups=groupStatement | stops=barrierStatement | splits=splitStatement) ';'*;
equation
    : (left=named | open=LP_LEFT items+=expr (',' items+=expr)* close=')')
      ( equals='=' right=expr layout=sharding? (FOR ranges+=rangeVar (',' ranges+=rangeVar)*)?
      | op=('*' | '/' | '%' | '+' | '-') right=expr
      )?
    | low=lowForm
    ;
groupStatement: GROUP values+=NAME (',' values+=NAME)*;
barrierStatement: BARRIER value=NAME direction=NAME;
splitStatement: SPLIT target=NAME ('#' instance=INT)? ON (AXIS axis=INT | dim=NAME)
                INTO (count=expr | '[' blocks+=block (',' blocks+=block)* ']') (OVER place=axisRef ('.' inner=axisRef)?)?;
block: low=expr RANGE high=expr;

sharding: '@' name=NAME '[' (dim+=dimSharding (',' dim+=dimSharding)*)? (';' clauses+=shardingClause)* close=']';
dimSharding: open='{' (items+=axisItem (',' items+=axisItem)*)? close='}' priority=NAME?;
axisItem: axis=axisRef | more='?';
axisRef: name=NAME (':' '(' pre=INT ')' size=INT)?;
shardingClause
    : kind=REPLICATED '{' (axes+=axisRef (',' axes+=axisRef)*)? '}'
    | kind=UNREDUCED '{' (axes+=axisRef (',' axes+=axisRef)*)? '}' (BY operation=NAME)?
    ;

// ---- expressions

expr: prefix+=('-' | 'not')*
      ( (first=named | other=unnamed)
        (op=('*' | '/' | '%' | '+' | '-' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'and' | 'or') right=expr)?
      | low=lowForm
      );

lowForm
    : kind='if' test=expr 'then' value=expr 'else' body=expr
    | kind='let' lets+=letBinding (',' lets+=letBinding)* IN body=expr
    | kind=REDUCTION '[' vars+=rangeVar (',' vars+=rangeVar)* ']' body=expr
    | kind=ITERATE first=expr (IN low=expr RANGE high=expr)? LP_STATE states+=stateBinding (',' states+=stateBinding)* ')'
      open='{' statements+=statement* close='}'
    ;
letBinding: name=NAME ('[' index=NAME ']')? '=' value=expr;
stateBinding: name=NAME '=' value=expr;
rangeVar: name=NAME pack=PACK? (IN low=expr RANGE high=expr)?;

// x   i..   x[i, j else 0]   f<2>(x)   std.linear(x)   a.v
named: path+=NAME ('.' path+=NAME)*
       ( kind='[' (subs+=expr (',' subs+=expr)*)? ('else' fill=expr)? close=']' ('.' members+=NAME)*
       | (angle=ANGLE_OPEN (params+=paramArg (',' params+=paramArg)*)? ANGLE_CLOSE)?
         kind='(' (args+=arg (',' args+=arg)*)? close=')' ('.' members+=NAME)*
       )? pack=PACK?;
unnamed
    : kind=(INT | FLOAT | STRING | 'true' | 'false' | 'inf' | 'nan')
    | kind='(' subs+=expr (',' subs+=expr)* close=')' ('.' members+=NAME)* pack=PACK?
    | kind=USER_REDUCTION '[' vars+=rangeVar (',' vars+=rangeVar)* ']' '(' subs+=expr (',' subs+=expr)* close=')'
      ('.' members+=NAME)*
    ;
arg: value=expr layout=sharding?;
paramArg: value=expr ('=' setting=expr)?;

// ---- tokens

IF: 'if'; THEN: 'then'; ELSE: 'else'; AND: 'and'; OR: 'or'; NOT: 'not'; LET: 'let';
TRUE_VALUE: 'true'; FALSE_VALUE: 'false'; INFINITE: 'inf'; NOT_A_NUMBER: 'nan';
NAME: [A-Za-z_] [A-Za-z_0-9]*;

FLOAT: [0-9]+ ('.' [0-9]+ EXPONENT? | EXPONENT);
INT: [0-9]+;
BAD_NUMBER: [0-9]+ ('.' [0-9]+)? ([eE] [+-]? [0-9]+)? [A-Za-z_] [A-Za-z_0-9]* ('.' [A-Za-z_0-9]+)? ([pP] [+-] [0-9]+)?;
STRING: '"' ~["\r\n]* '"';
OPEN_STRING: '"' ~["\r\n]*;
fragment EXPONENT: [eE] [+-]? [0-9]+;

ARROW: '->'; YIELDS: '=>'; EQUAL: '=='; NOT_EQUAL: '!='; LESS_EQUAL: '<='; GREATER_EQUAL: '>=';
LESS: '<'; GREATER: '>'; ASSIGN: '='; PLUS: '+'; MINUS: '-'; TIMES: '*'; DIVIDE: '/'; MODULO: '%';
LPAREN: '('; RPAREN: ')'; LBRACKET: '['; RBRACKET: ']'; LBRACE: '{'; RBRACE: '}';
COMMA: ','; SEMICOLON: ';'; COLON: ':'; RANGE: '..'; DOT: '.'; SHARD: '@'; HASH: '#'; QUESTION: '?';

SPACE: [ \t\r\n\f\u000B]+ -> channel(HIDDEN);
DOC: '///' ~[\r\n]* -> channel(HIDDEN);
LINE_COMMENT: '//' ~[\r\n]* -> channel(HIDDEN);
BLOCK_COMMENT: '/*' (~'*' | '*'+ ~[*/])* '*'+ '/' -> channel(HIDDEN);
OPEN_COMMENT: '/*';
BAD: . ;
